#include "study/name_ranges.hpp"

#include <fmt/format.h>
#include <string_view>
#include <vector>

namespace gpuscale {

namespace {

constexpr std::size_t kMostRanges = 8;

/// A name with one of its numbers taken out.
struct Numbered {
  std::string before;
  std::string after;
  long number = -1;  ///< -1: the name has none
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The last number of a name.
Numbered numbered(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && !is_digit(name[end - 1])) --end;
  std::size_t begin = end;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  constexpr std::size_t kLongest = 9;
  if (begin == end || end - begin > kLongest) return {std::string(name), "", -1};
  return {std::string(name.substr(0, begin)), std::string(name.substr(end)),
          std::stol(std::string(name.substr(begin, end - begin)))};
}

struct Range {
  Numbered first;
  long last = -1;

  [[nodiscard]] std::string text() const {
    if (first.number < 0) return first.before;
    const std::string numbers = last == first.number ? std::to_string(last) : fmt::format("{}-{}", first.number, last);
    return first.before + numbers + first.after;
  }
};

/// Names that count up become one with a range in it, which later steps cannot take apart again.
std::vector<std::string> joined(std::span<const std::string> names) {
  std::vector<Range> ranges;
  for (const std::string& name : names) {
    const Numbered next = numbered(name);
    const bool continues = !ranges.empty() && next.number >= 0 && ranges.back().last + 1 == next.number &&
                           ranges.back().first.before == next.before && ranges.back().first.after == next.after;
    if (continues) {
      ranges.back().last = next.number;
    } else {
      ranges.push_back({next, next.number});
    }
  }
  std::vector<std::string> texts;
  for (const Range& range : ranges) texts.push_back(range.text());
  return texts;
}

/// "node0.gpu0-7" and "node1.gpu0-7" become "node0-1.gpu0-7".
std::vector<std::string> joined_boxes(const std::vector<std::string>& names) {
  std::vector<std::string> boxes;
  std::vector<std::string> devices;
  std::vector<std::string> result;
  const auto flush = [&] {
    if (boxes.empty()) return;
    for (const std::string& range : joined(boxes)) result.push_back(range + devices.back());
    boxes.clear();
  };
  for (const std::string& name : names) {
    const std::size_t dot = name.find('.');
    if (dot == std::string::npos) {
      flush();
      result.push_back(name);
      continue;
    }
    const std::string device = name.substr(dot);
    if (!devices.empty() && devices.back() != device) flush();
    boxes.push_back(name.substr(0, dot));
    devices.assign(1, device);
  }
  flush();
  return result;
}

}  // namespace

std::string name_ranges(std::span<const std::string> names) {
  std::vector<std::string> ranges = joined_boxes(joined(names));
  if (ranges.size() <= kMostRanges) return fmt::format("{}", fmt::join(ranges, ", "));
  const std::size_t more = ranges.size() - kMostRanges;
  ranges.resize(kMostRanges);
  return fmt::format("{} and {} more", fmt::join(ranges, ", "), more);
}

}  // namespace gpuscale

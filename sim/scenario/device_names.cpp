#include "scenario/device_names.hpp"

#include <charconv>
#include <system_error>

namespace gpuscale {

namespace {

struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool padded = text.size() > 1 && text.front() == '0';
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || padded) return std::nullopt;
  return value;
}

/// "0-3"
std::optional<Range> range(std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::optional<std::size_t> first = number(text.substr(0, dash));
  const std::optional<std::size_t> last = number(text.substr(dash + 1));
  if (!first || !last || *first > *last || *last - *first >= kMostDevices) return std::nullopt;
  return Range{*first, *last};
}

}  // namespace

std::optional<std::vector<std::string>> device_names(std::string_view text) {
  std::vector<std::string> names = {""};
  while (!text.empty()) {
    const std::size_t open = text.find('[');
    const std::string_view before = text.substr(0, open);
    if (before.find(']') != std::string_view::npos) return std::nullopt;
    for (std::string& name : names) name += before;
    if (open == std::string_view::npos) break;
    const std::size_t close = text.find(']', open);
    if (close == std::string_view::npos) return std::nullopt;
    const std::optional<Range> numbers = range(text.substr(open + 1, close - open - 1));
    if (!numbers || names.size() * (numbers->last - numbers->first + 1) > kMostDevices) return std::nullopt;
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      for (std::size_t i = numbers->first; i <= numbers->last; ++i) longer.push_back(name + std::to_string(i));
    }
    names = std::move(longer);
    text.remove_prefix(close + 1);
  }
  return names;
}

}  // namespace gpuscale

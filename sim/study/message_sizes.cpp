#include "study/message_sizes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>
#include <string>

#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kMostSizes = 1000;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

/// "8", "1K", "64M": the way nccl-tests writes sizes.
std::optional<double> plain_size(std::string_view text) {
  constexpr std::string_view kSuffixes = "KMGT";
  double scale = 1.0;
  const std::size_t suffix = text.empty() ? std::string_view::npos : kSuffixes.find(text.back());
  if (suffix != std::string_view::npos) {
    scale = std::exp2(10.0 * static_cast<double>(suffix + 1));
    text.remove_suffix(1);
  }
  text = trimmed(text);
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number * scale;
}

Bytes read_size(std::string_view text) {
  constexpr double kMost = 1e15;
  const std::optional<double> plain = plain_size(text);
  const QuantityReading reading = plain ? QuantityReading{*plain, ""} : read_quantity(text, QuantityKind::size);
  if (!reading.ok()) {
    throw std::invalid_argument(
        fmt::format("{} is no message size; write 8, 1K, 64 MiB or a range such as 8..1G", in_quotes(text)));
  }
  const double bytes = std::round(reading.value);
  if (!(bytes >= 1 && bytes <= kMost)) {
    throw std::invalid_argument(fmt::format("{} is no message size; write 1 B to 1 PB", in_quotes(text)));
  }
  return Bytes(bytes);
}

void add_range(std::vector<Bytes>& sizes, std::string_view text, std::size_t dots, double factor) {
  const Bytes first = read_size(trimmed(text.substr(0, dots)));
  const Bytes last = read_size(trimmed(text.substr(dots + 2)));
  if (first > last) {
    throw std::invalid_argument(fmt::format("{} goes down; write the smaller size first", in_quotes(text)));
  }
  for (Bytes size = first; size <= last && sizes.size() <= kMostSizes;) {
    sizes.push_back(size);
    size = std::max(Bytes(std::round((size * factor).count())), size + 1_B);
  }
}

std::size_t read_index(std::string_view text, std::size_t count) {
  std::size_t number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) {
    throw std::invalid_argument(fmt::format("{} is no rank; write numbers such as 0,2,4-7", in_quotes(text)));
  }
  if (number >= count) {
    throw std::invalid_argument(fmt::format("there is no rank {}; the {} GPUs are 0 to {}", number, count, count - 1));
  }
  return number;
}

}  // namespace

std::vector<Bytes> read_message_sizes(std::string_view text, double factor) {
  if (!(factor > 1.0 && factor <= 1e6)) throw std::invalid_argument("--factor is a number above 1, such as 2");
  std::vector<Bytes> sizes;
  for (const std::string_view part : split_at_commas(text)) {
    const std::size_t dots = part.find("..");
    if (dots == std::string_view::npos) {
      sizes.push_back(read_size(part));
    } else {
      add_range(sizes, part, dots, factor);
    }
  }
  if (sizes.size() > kMostSizes) {
    throw std::invalid_argument(
        fmt::format("{} has more than {} sizes; choose a larger --factor", in_quotes(text), kMostSizes));
  }
  return sizes;
}

std::vector<std::size_t> read_ranks(std::string_view text, std::size_t count) {
  std::vector<std::size_t> ranks;
  for (const std::string_view part : split_at_commas(text)) {
    const std::size_t dash = part.find('-');
    const std::size_t first = read_index(part.substr(0, dash), count);
    const std::size_t last = dash == std::string_view::npos ? first : read_index(part.substr(dash + 1), count);
    for (std::size_t rank = first; rank <= last; ++rank) {
      if (std::ranges::find(ranks, rank) != ranks.end()) {
        throw std::invalid_argument(fmt::format("rank {} is there twice", rank));
      }
      ranks.push_back(rank);
    }
    if (first > last)
      throw std::invalid_argument(fmt::format("{} goes down; write the smaller first", in_quotes(part)));
  }
  return ranks;
}

}  // namespace gpuscale

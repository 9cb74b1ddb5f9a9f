#include "report/text_style.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

std::string dressed(std::string_view code, std::string_view text, const TextStyle& style) {
  return style.colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

}  // namespace

std::string bold(std::string_view text, const TextStyle& style) { return dressed("1", text, style); }
std::string dim(std::string_view text, const TextStyle& style) { return dressed("2", text, style); }
std::string red(std::string_view text, const TextStyle& style) { return dressed("31", text, style); }
std::string green(std::string_view text, const TextStyle& style) { return dressed("32", text, style); }

std::string printable(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == '\n' || byte == '\r' || byte == '\t') {
      clean += ' ';
    } else if (byte < 0x20U || byte == 0x7FU) {
      clean += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xC2U && next >= 0x80U && next < 0xA0U) {  // U+0080 to U+009F in UTF-8
      clean += fmt::format("\\u{:04x}", next);
      ++i;
    } else {
      clean += text[i];
    }
  }
  return clean;
}

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += starts_character(c) ? 1 : 0;
  return width;
}

std::string padded(std::string_view text, std::size_t width, bool right) {
  const std::size_t taken = display_width(text);
  const std::string fill(taken < width ? width - taken : 0, ' ');
  return right ? fill + std::string(text) : std::string(text) + fill;
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string lines;
  std::size_t column = indent;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (word.empty()) continue;
    const bool first = lines.empty();
    if (!first && column + 1 + display_width(word) > width) {
      lines += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += display_width(word);
  }
  return lines;
}

std::string share_bar(double fraction, std::size_t room) {
  const double filled = std::clamp(fraction, 0.0, 1.0) * static_cast<double>(room);
  return std::string(static_cast<std::size_t>(filled + 0.5), '#');
}

std::string number_text(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 999.5 && size < 1e15) return fmt::format("{:.0f}", value);
  if (size < 1e-4 || size >= 1e15) return fmt::format("{:.2e}", value);
  int decimals = 2 - static_cast<int>(std::floor(std::log10(size)));
  if (std::round(size * std::pow(10, decimals)) >= 1000) --decimals;  // 9.996 is 10.0, not 10.00
  return fmt::format("{:.{}f}", value, decimals);
}

std::string percent_text(double fraction) {
  constexpr double kMostInFull = 9.995;
  if (fraction < kMostInFull) return fmt::format("{:.1f} %", fraction * 100);
  return count_text(fraction * 100) + '%';
}

}  // namespace gpuscale

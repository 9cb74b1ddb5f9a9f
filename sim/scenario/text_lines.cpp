#include "scenario/text_lines.hpp"

#include <algorithm>

namespace gpuscale {

namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

std::size_t not_negative(int number) { return static_cast<std::size_t>(std::max(number, 0)); }

}  // namespace

TextLines::TextLines(std::string_view text) : text_(text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') starts_.push_back(i + 1);
  }
}

std::string_view TextLines::from(int line, int byte) const {
  const std::size_t number = not_negative(line);
  const std::string_view rest = text_.substr(number < starts_.size() ? starts_[number] : text_.size());
  return rest.substr(std::min(not_negative(byte), rest.size()));
}

int TextLines::column(int line, int byte) const {
  constexpr int kLongLine = 4096;  // counting from its start for every value would take quadratic time
  if (byte <= 0 || byte > kLongLine) return std::max(byte, 0) + 1;
  const std::string_view before = from(line, 0).substr(0, not_negative(byte));
  return 1 + static_cast<int>(std::ranges::count_if(before, [](char c) { return !is_continuation(c); }));
}

bool is_unclosed_quote(std::string_view text) {
  while (text.starts_with('&') || text.starts_with('!')) {
    text.remove_prefix(std::min(text.find_first_of(" \n"), text.size()));
    text.remove_prefix(std::min(text.find_first_not_of(" \r\n"), text.size()));
  }
  if (!text.starts_with('"') && !text.starts_with('\'')) return false;
  const char quote = text.front();
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      const bool is_doubled = quote == '\'' && i + 1 < text.size() && text[i + 1] == quote;
      if (!is_doubled) return false;
      ++i;
    }
  }
  return true;
}

}  // namespace gpuscale

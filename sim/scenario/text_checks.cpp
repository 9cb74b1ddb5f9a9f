#include "scenario/text_checks.hpp"

#include <fmt/format.h>

namespace gpuscale {

namespace {

bool is_continuation(std::string_view text, std::size_t i) {
  return i < text.size() && (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
}

/// Bytes of the UTF-8 character that starts at `i`; 0 if none does.
std::size_t character_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned first = byte(i);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if (!is_continuation(text, i + k)) return 0;
  }
  const unsigned second = byte(i + 1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool surrogate = first == 0xED && second >= 0xA0;
  const bool beyond = first == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

bool indents_something(std::string_view text, std::size_t i) {
  const std::size_t next = text.find_first_not_of(" \t", i);
  return next != std::string_view::npos && text[next] != '\n' && text[next] != '\r' && text[next] != '#';
}

}  // namespace

std::vector<Problem> check_text(std::string_view text, const std::string& file, bool whole_file) {
  if (text.size() > kLargestFile) {
    return {{{file, 0, 0},
             fmt::format("the file has {} MiB; files up to 16 MiB are read, so leave out what is not a description",
                         text.size() / (std::size_t{1024} * 1024))}};
  }
  std::vector<Problem> problems;
  int line = 1;
  int column = 1;
  bool in_indentation = true;
  bool tab_noted = false;
  const auto note = [&](std::string what) {
    problems.push_back({whole_file ? Place{file, line, column} : Place{file, 0, 0}, std::move(what)});
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t length = character_length(text, i);
    if (length == 0) {
      note(fmt::format("byte 0x{:02X} is not UTF-8 text; save the file as UTF-8", byte));
      return problems;
    }
    if ((byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7F) {
      note(fmt::format("control character 0x{:02X}; this is not a text file", byte));
      return problems;
    }
    if (c == '\t' && in_indentation && !tab_noted && indents_something(text, i)) {
      note("a tab indents this line; YAML indents with spaces");
      tab_noted = true;
    }
    if (c == '\n') {
      ++line;
      column = 1;
      in_indentation = true;
    } else {
      ++column;
      if (c != ' ' && c != '\t') in_indentation = false;
    }
    i += length;
  }
  return problems;
}

}  // namespace gpuscale

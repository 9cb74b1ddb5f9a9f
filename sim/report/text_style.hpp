#pragma once

/// \file
/// How text for people is dressed: colour, width, and words for numbers.

#include <cstddef>
#include <string>
#include <string_view>

namespace gpuscale {

struct TextStyle {
  bool colour = false;
  bool verbose = false;     ///< every link and every source instead of the first few
  std::size_t width = 118;  ///< lines are kept within
};

std::string bold(std::string_view text, const TextStyle& style);
std::string dim(std::string_view text, const TextStyle& style);
std::string red(std::string_view text, const TextStyle& style);
std::string green(std::string_view text, const TextStyle& style);

/// The text without what could steer a terminal: line ends and tabs become spaces, other control characters
/// visible escapes, "\x1b" for ESC and "\u009b" for one of the second set.
std::string printable(std::string_view text);

/// Whether a byte of UTF-8 is the first of its character.
bool starts_character(char byte);

/// Columns a text takes on a terminal: its UTF-8 characters.
std::size_t display_width(std::string_view text);

/// The text filled up with spaces on the right or, for numbers, on the left.
std::string padded(std::string_view text, std::size_t width, bool right = false);

/// Words wrapped at a width; lines after the first begin with `indent` spaces. Ends without a newline.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

/// A bar of at most `room` signs, as long as the fraction, which is held to 0..1.
std::string share_bar(double fraction, std::size_t room);

/// "0.0123", "12.3", "1234": three digits, or all before the point.
std::string number_text(double value);

/// "86.5 %" of a fraction; above 999 % in few digits, "25.7 k%".
std::string percent_text(double fraction);

}  // namespace gpuscale

#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace gpuscale {

/// A text by line. Lines and bytes count from 0, as yaml-cpp's marks do.
class TextLines {
 public:
  /// The text must outlive this.
  explicit TextLines(std::string_view text);

  /// Column of a byte of a line in characters, from 1; in bytes far out in a very long line.
  [[nodiscard]] int column(int line, int byte) const;

  /// The text from a byte of a line on.
  [[nodiscard]] std::string_view from(int line, int byte) const;

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_ = {0};
};

/// Whether a text starts with a quotation mark, maybe after an anchor or a tag, that is never closed.
bool is_unclosed_quote(std::string_view text);

}  // namespace gpuscale

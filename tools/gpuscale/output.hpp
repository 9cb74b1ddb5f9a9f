#pragma once

/// \file
/// Results go to stdout or a file, all else to stderr.

#include <sstream>
#include <string>
#include <string_view>

#include "report/text_style.hpp"

namespace gpuscale::tool {

/// Writes all of the text to stdout. A reader that has gone away (`| head`) is no error.
/// \throws std::system_error if it cannot be written.
void write_out(std::string_view text);

/// Writes to stderr; if that fails there is nobody to tell.
void write_err(std::string_view text);

/// "gpuscale: text" on stderr.
void say(std::string_view text);

/// Whether stderr is a terminal.
bool talks_to_a_person();

/// Where a result goes. The file is opened before the work starts, so a path that cannot be written
/// costs nothing; what it held stays until there is something to write.
class Result {
 public:
  /// An empty path or "-" is stdout. \throws UsageError if the file cannot be opened.
  explicit Result(const std::string& path);
  ~Result();
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  std::ostream& stream() { return text_; }

  /// Colour and width that suit the destination.
  [[nodiscard]] TextStyle style(bool verbose) const;

  /// Writes what was streamed. \throws std::system_error
  void finish();

 private:
  std::string path_;
  int file_ = -1;
  std::ostringstream text_;
};

}  // namespace gpuscale::tool

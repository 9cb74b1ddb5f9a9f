#pragma once

/// \file
/// Results go to stdout or a file, all else to stderr.

#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "report/text_style.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale::tool {

/// Writes all of the text to stdout. A reader that has gone away (`| head`) is no error.
/// \throws std::system_error if it cannot be written.
void write_out(std::string_view text);

/// Writes to stderr; if that fails there is nobody to tell.
void write_err(std::string_view text);

/// "gpuscale: text" on stderr, without what could steer a terminal.
void say(std::string_view text);

/// A problem on stderr, likewise.
void tell(const Problem& problem);

/// Whether stderr is a terminal.
bool talks_to_a_person();

/// Where a result goes. The file is opened before the work starts, so a path that cannot be written
/// costs nothing; what it held stays until there is something to write, and without a result no new file stays.
class Result {
 public:
  /// "-" is stdout. \throws UsageError if the file cannot be opened or is one of `inputs`, where "-" is
  /// standard input.
  explicit Result(const std::string& path, const std::vector<std::filesystem::path>& inputs = {});
  ~Result();
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;

  std::ostream& stream() { return text_; }

  /// Colour and width that suit the destination.
  [[nodiscard]] TextStyle style(bool verbose) const;

  /// Writes what was streamed. \throws std::system_error
  void finish();

 private:
  std::string path_;  ///< empty: stdout
  int file_ = -1;
  bool is_new_ = false;  ///< made for a result that is not there yet
  std::ostringstream text_;
};

}  // namespace gpuscale::tool

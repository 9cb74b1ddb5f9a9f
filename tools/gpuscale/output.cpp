#include "output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <system_error>
#include <unistd.h>

#include "commands.hpp"
#include "report/columns.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale::tool {

namespace {

void write_all(int file, std::string_view text, const std::string& where) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return;
    if (written < 0) throw std::system_error(errno, std::generic_category(), fmt::format("cannot write to {}", where));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

bool wants_colour() {
  const char* no_colour = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  const bool refused = no_colour != nullptr && *no_colour != '\0';
  return !refused && terminal != nullptr && std::string_view(terminal) != "dumb";
}

std::size_t terminal_width(std::size_t otherwise) {
  constexpr std::size_t kNarrow = 60;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return otherwise;
  return std::clamp<std::size_t>(size.ws_col, kNarrow, kWidestText);
}

bool same_file(const std::filesystem::path& input, const std::string& output) {
  std::error_code error;
  return std::filesystem::equivalent(input == "-" ? "/dev/stdin" : input, output, error) &&
         std::filesystem::is_regular_file(output, error);
}

}  // namespace

void write_out(std::string_view text) { write_all(STDOUT_FILENO, text, "stdout"); }

void write_err(std::string_view text) { static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size())); }

void say(std::string_view text) { write_err(fmt::format("gpuscale: {}\n", printable(text))); }

void tell(const Problem& problem) { write_err(printable(to_text(problem)) + '\n'); }

bool talks_to_a_person() { return ::isatty(STDERR_FILENO) != 0; }

Result::Result(const std::string& path, const std::vector<std::filesystem::path>& inputs)
    : path_(path == "-" ? "" : path) {
  if (path.empty()) throw UsageError("--output needs the name of a file, or - for stdout");
  if (path_.empty()) return;
  for (const std::filesystem::path& input : inputs) {
    if (!same_file(input, path_)) continue;
    throw UsageError(fmt::format("--output {} would write over a file that it is the result of", in_quotes(path_)));
  }
  constexpr mode_t kMode = 0666;
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kMode);
  is_new_ = file_ >= 0;
  if (!is_new_) file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, kMode);
  if (file_ < 0) throw UsageError(fmt::format("cannot write to {}: {}", in_quotes(path_), std::strerror(errno)));
}

Result::~Result() {
  if (file_ < 0) return;
  ::close(file_);
  if (is_new_) ::unlink(path_.c_str());
}

TextStyle Result::style(bool verbose) const {
  TextStyle style;
  style.verbose = verbose;
  if (!path_.empty() || ::isatty(STDOUT_FILENO) == 0) return style;
  style.colour = wants_colour();
  style.width = terminal_width(style.width);
  return style;
}

void Result::finish() {
  if (path_.empty()) return write_out(text_.str());
  is_new_ = false;
  static_cast<void>(!::ftruncate(file_, 0));  // a pipe or a device has nothing to cut
  write_all(file_, text_.str(), path_);
}

}  // namespace gpuscale::tool

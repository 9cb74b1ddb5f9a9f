#pragma once

/// \file
/// The program as it was built, run in a shell.

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>

namespace gpuscale::test {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

inline std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// A folder that is gone at the end.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpuscale-cli-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return folder_ / name; }

 private:
  std::filesystem::path folder_;
};

/// Runs `gpuscale arguments` in a shell, without a terminal.
inline Outcome gpuscale_with(const std::string& arguments, const std::string& input = "") {
  const Scratch scratch;
  std::ofstream(scratch / "in") << input;
  const std::string command = std::string("cd '") + GPUSCALE_SOURCE_DIR + "' && GPUSCALE_PATH='" + GPUSCALE_SOURCE_DIR +
                              "' '" + GPUSCALE_PROGRAM + "' " + arguments + " < '" + (scratch / "in").string() +
                              "' > '" + (scratch / "out").string() + "' 2> '" + (scratch / "err").string() + "'";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(scratch / "out"), content(scratch / "err")};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace gpuscale::test

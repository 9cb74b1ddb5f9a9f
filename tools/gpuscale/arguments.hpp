#pragma once

/// \file
/// Command lines, with Boost.Program_options behind this header so that no command waits for its compilation.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"

namespace gpuscale::tool {

/// The options of one subcommand, bound to the variables they fill. Targets keep their value where an
/// option is not given.
class ArgumentParser {
 public:
  /// `usage` is what follows "gpuscale ", `about` a paragraph for --help.
  ArgumentParser(std::string_view usage, std::string_view about);
  ~ArgumentParser();
  ArgumentParser(const ArgumentParser&) = delete;
  ArgumentParser& operator=(const ArgumentParser&) = delete;

  /// `name` is the long name, with ",x" for a short one.
  void flag(const char* name, bool& target, const char* help);
  void value(const char* name, const char* metavar, std::string& target, const char* help);
  void value(const char* name, const char* metavar, int& target, const char* help);
  void value(const char* name, const char* metavar, std::optional<int>& target, const char* help);
  /// May be given several times.
  void list(const char* name, const char* metavar, std::vector<std::string>& target, const char* help);
  /// What is no option.
  void rest(std::vector<std::string>& target);
  /// Lines below the options in --help.
  void example(std::string_view line);

  /// False if --help was given: then it is on stdout and there is nothing else to do.
  /// \throws UsageError
  bool parse(const std::vector<std::string>& arguments);

 private:
  struct Options;

  [[nodiscard]] std::string help() const;
  void describe(std::string_view name, std::string_view metavar, std::string_view help);

  std::string usage_;
  std::string about_;
  std::string examples_;
  std::vector<std::string>* rest_ = nullptr;
  std::unique_ptr<Options> options_;
};

}  // namespace gpuscale::tool

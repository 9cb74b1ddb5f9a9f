#pragma once

/// \file
/// The subcommands: a new one is a file with its function, a declaration here and a row in commands.cpp.

#include <filesystem>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gpuscale::tool {

/// A command line that cannot be understood; the text is for the user. Exit code kUsage.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What every subcommand gets.
struct Invocation {
  std::filesystem::path program;       ///< argv[0]
  std::vector<std::string> arguments;  ///< after the name of the subcommand
};

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Invocation&);  ///< returns the exit code; understands --help
};

/// In the order of `gpuscale --help`.
std::span<const Command> commands();

const Command* find_command(std::string_view name);

int run_command(const Invocation& invocation);
int sweep_command(const Invocation& invocation);
int compare_command(const Invocation& invocation);
int fit_command(const Invocation& invocation);
int calibrate_command(const Invocation& invocation);
int sensitivity_command(const Invocation& invocation);
int topo_command(const Invocation& invocation);
int exchange_command(const Invocation& invocation);
int validate_command(const Invocation& invocation);
int list_command(const Invocation& invocation);
int schema_command(const Invocation& invocation);
int help_command(const Invocation& invocation);

}  // namespace gpuscale::tool

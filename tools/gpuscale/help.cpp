#include "help.hpp"

#include <fmt/format.h>

#include "commands.hpp"
#include "exit_code.hpp"
#include "output.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale::tool {

std::string overview() {
  std::string text =
      "Usage: gpuscale COMMAND [options]\n\n"
      "Predicts how fast a training job runs on GPUs that you do not own yet, and why.\n\nCommands:\n";
  for (const Command& command : commands()) text += fmt::format("  {:<13}{}\n", command.name, command.summary);
  text +=
      "\n'gpuscale help COMMAND' shows the options of a command, 'gpuscale --version' the version.\n\n"
      "Exit codes: 0 done, 1 unexpected, 2 usage, 3 bad input, 4 does not fit in memory, 5 an --assert failed,\n"
      "130 interrupted.\n\n"
      "Example:\n  gpuscale run workloads/scenarios/quickstart.yaml\n";
  return text;
}

const Command& command_named(const std::string& name) {
  if (const Command* command = find_command(name)) return *command;
  std::vector<std::string_view> names;
  for (const Command& command : commands()) names.push_back(command.name);
  throw UsageError(fmt::format("unknown command {}{}", in_quotes(name), did_you_mean(name, names)));
}

int help_command(const Invocation& invocation) {
  const bool about_itself = invocation.arguments.empty() || invocation.arguments.front() == "--help" ||
                            invocation.arguments.front() == "-h" || invocation.arguments.front() == "help";
  if (about_itself) {
    write_out(overview());
    return kDone;
  }
  return command_named(invocation.arguments.front()).run({invocation.program, {"--help"}});
}

}  // namespace gpuscale::tool

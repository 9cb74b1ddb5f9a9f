#include <csignal>
#include <exception>
#include <fmt/format.h>
#include <new>
#include <string>

#include "commands.hpp"
#include "exit_code.hpp"
#include "help.hpp"
#include "output.hpp"
#include "report/version.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale::tool {

#ifdef GPUSCALE_VERSION
static_assert(kProgramVersion == GPUSCALE_VERSION, "report/version.hpp and CMakeLists.txt name different versions");
#endif

namespace {

int dispatch(const std::filesystem::path& program, const std::vector<std::string>& words) {
  const std::string& first = words.front();
  if (first == "--help" || first == "-h") {
    write_out(overview());
    return kDone;
  }
  if (first == "--version" || first == "-V") {
    write_out(fmt::format("gpuscale {}\n", kProgramVersion));
    return kDone;
  }
  if (first.starts_with('-')) throw UsageError("a command comes first, as in 'gpuscale run job.yaml'");
  return command_named(first).run({program, {words.begin() + 1, words.end()}});
}

int usage_failure(const std::vector<std::string>& words, const std::string& text) {
  say("error: " + text);
  const bool known = !words.empty() && find_command(words.front()) != nullptr && words.front() != "help";
  say(known ? fmt::format("'gpuscale help {}' shows its options", words.front())
            : "'gpuscale --help' shows the commands");
  return kUsage;
}

int input_failure(const ScenarioError& error) {
  for (const Problem& problem : error.problems()) tell(problem);
  return kBadInput;
}

}  // namespace

int main(const std::filesystem::path& program, const std::vector<std::string>& words) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away shows as an error of write
  if (words.empty()) {
    write_err(overview());
    return kUsage;
  }
  try {
    return dispatch(program, words);
  } catch (const UsageError& error) {
    return usage_failure(words, error.what());
  } catch (const ScenarioError& error) {
    return input_failure(error);
  } catch (const std::bad_alloc&) {
    say("error: out of memory");
  } catch (const std::exception& error) {
    say(fmt::format("unexpected error: {}", error.what()));
  }
  return kUnexpected;
}

}  // namespace gpuscale::tool

int main(int argc, char** argv) {
  const std::filesystem::path program = argc > 0 ? argv[0] : "";
  return gpuscale::tool::main(program, {argv + (argc > 0 ? 1 : 0), argv + argc});
}

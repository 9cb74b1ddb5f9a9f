// Fits the constants of architecture families to measured kernels: see README.md.

#include <algorithm>
#include <exception>
#include <filesystem>
#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "family_file.hpp"
#include "fit.hpp"
#include "report.hpp"

namespace gpuscale::fit {

namespace {

constexpr std::string_view kUsage =
    "usage: fit_kernels [FAMILY...] [options]\n"
    "  --rules FOLDER    validation rules to take measurements from\n"
    "  --hold PATH       leave a constant as it is (launch, or convolution. for all below); may be repeated\n"
    "  --steps PATH      fit this constant to steps of whole networks on one card; may be repeated\n"
    "  --source NAME     only steps of this validation rule; may be repeated\n"
    "  --leave-one-out   how well the other cards of a family predict each\n"
    "  --no-fit          only print the errors of the files as they are\n"
    "  --write           write what was fitted into topologies/families\n";

struct Options {
  std::vector<std::string> families;
  std::vector<std::string_view> hold;
  std::vector<std::string_view> steps;
  std::vector<std::string_view> sources;
  std::filesystem::path rules;
  bool leave_one_out = false;
  bool fit = true;
  bool write = false;
};

/// False if the command line makes no sense.
bool parse(const std::vector<std::string_view>& arguments, Options& options) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const bool takes_value =
        argument == "--rules" || argument == "--hold" || argument == "--steps" || argument == "--source";
    if (takes_value && ++i == arguments.size()) return false;
    if (argument == "--rules")
      options.rules = arguments[i];
    else if (argument == "--hold")
      options.hold.push_back(arguments[i]);
    else if (argument == "--steps")
      options.steps.push_back(arguments[i]);
    else if (argument == "--source")
      options.sources.push_back(arguments[i]);
    else if (argument == "--leave-one-out")
      options.leave_one_out = true;
    else if (argument == "--no-fit")
      options.fit = false;
    else if (argument == "--write")
      options.write = true;
    else if (argument.starts_with("-"))
      return false;
    else
      options.families.emplace_back(argument);
  }
  return true;
}

std::filesystem::path rules_folder(const Options& options, const Library& library) {
  if (!options.rules.empty()) return options.rules;
  for (const std::filesystem::path& root : library.roots()) {
    std::filesystem::path folder = root / "tests" / "validation" / "rules";
    if (std::filesystem::is_directory(folder)) return folder;
  }
  return "tests/validation/rules";
}

/// The kernels that steps of networks consist of.
Samples convolutions_of(const std::vector<Sample>& samples, std::string_view family) {
  Samples found;
  for (const Stage& stage : stages()) {
    if (stage.name == "convolution") found = of_stage(samples, stage, family);
  }
  return found;
}

void fit_family(const std::string& name, const Options& options, const Library& library,
                const std::vector<Sample>& samples, const std::vector<Step>& all_steps) {
  const Family before = load_family(name, library);
  Steps steps;
  for (const Step& step : all_steps) {
    const bool wanted =
        options.sources.empty() || std::ranges::find(options.sources, step.source) != options.sources.end();
    if (wanted && step.scenario.cluster.gpu.family.id == before.id) steps.push_back(&step);
  }
  Family after = before;
  if (options.fit) {
    std::vector<std::string_view> hold = options.hold;
    hold.insert(hold.end(), options.steps.begin(), options.steps.end());
    after = fit_stages(before, samples, hold);
  }
  if (options.fit && !options.steps.empty() && !steps.empty()) {
    const Samples kernels = convolutions_of(samples, before.id);
    after = descend(after, named(options.steps),
                    [&](const Family& candidate) { return distance(steps, candidate) + distance(kernels, candidate); });
  }
  print_errors(samples, before, after);
  print_steps(steps, before, after);
  print_changes(before, after);
  if (options.leave_one_out) print_leave_one_out(samples, before, after, options.hold);
  if (options.write) write_family(library.find("topologies/families", name), after);
  fmt::print("\n");
}

int run(const std::filesystem::path& program, const Options& options) {
  const Library library = Library::standard(program);
  const std::filesystem::path rules = rules_folder(options, library);
  const std::vector<Sample> samples = read_samples(rules, library);
  const std::vector<Step> steps = read_steps(rules, library);
  const std::vector<std::string> families =
      options.families.empty() ? library.names("topologies/families") : options.families;
  for (const std::string& family : families) fit_family(family, options, library, samples, steps);
  return 0;
}

}  // namespace

}  // namespace gpuscale::fit

int main(int count, char** arguments) {
  using namespace gpuscale;
  try {
    fit::Options options;
    if (!fit::parse({arguments + 1, arguments + count}, options)) {
      fmt::print(stderr, "{}", fit::kUsage);
      return 2;
    }
    return fit::run(arguments[0], options);
  } catch (const ScenarioError& error) {
    for (const Problem& problem : error.problems()) fmt::print(stderr, "{}\n", to_text(problem));
    return 3;
  } catch (const std::exception& error) {
    fmt::print(stderr, "fit_kernels: {}\n", error.what());
    return 1;
  }
}

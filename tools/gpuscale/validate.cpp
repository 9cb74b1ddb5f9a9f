#include "study/validate.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

#include "exit_code.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "scenario/validation_rule.hpp"
#include "study/validate_output.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity_text.hpp"
#include "write_result.hpp"

namespace gpuscale::tool {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kFamilies = {"conv", "recurrent", "transformer", "dense"};

/// The folder given, or the one beside the data of the program.
fs::path rules_folder(const std::string& given, const Library& library) {
  std::error_code error;
  if (!given.empty() && fs::is_directory(given, error)) return given;
  if (!given.empty()) throw UsageError(fmt::format("there is no folder {}", in_quotes(given)));
  for (const fs::path& root : library.roots()) {
    fs::path folder = root / "tests" / "validation" / "rules";
    if (fs::is_directory(folder, error)) return folder;
  }
  throw UsageError(
      "the measurements are part of the source tree, which is not here; name its folder "
      "tests/validation/rules with --rules");
}

void check_words(const std::vector<std::string>& words, std::span<const std::string_view> known,
                 std::string_view what) {
  for (const std::string& word : words) {
    if (std::ranges::find(known, word) != known.end()) continue;
    throw UsageError(fmt::format("{} is no {}; there are {}{}", in_quotes(word), what, fmt::join(known, ", "),
                                 did_you_mean(word, known)));
  }
}

void keep_sources(std::vector<ValidationRule>& rules, const std::vector<std::string>& sources) {
  std::vector<std::string_view> names;
  for (const ValidationRule& rule : rules) names.push_back(rule.name);
  check_words(sources, names, "source");
  if (sources.empty()) return;
  std::erase_if(rules,
                [&](const ValidationRule& rule) { return std::ranges::find(sources, rule.name) == sources.end(); });
}

/// The files that a result is made from.
std::vector<fs::path> inputs_of(const std::vector<ValidationRule>& rules) {
  std::vector<fs::path> inputs;
  for (const ValidationRule& rule : rules) {
    inputs.emplace_back(rule.name_place.file);
    inputs.push_back(rule.data);
  }
  return inputs;
}

}  // namespace

int validate_command(const Invocation& invocation) {
  ArgumentParser parser(
      "validate [options]",
      "Simulates published measurements and prints ours beside theirs: errors of time and of scaling "
      "by source and by family of model, the worst rows, and what perfect linear scaling would score. "
      "A rule a source, in tests/validation/rules, says how its rows become scenarios. CSV has one "
      "line a measured row.");
  std::vector<std::string> sources;
  std::vector<std::string> families;
  std::string rules_path;
  OutputOptions output;
  JobsOption jobs;
  parser.list("source", "NAME", sources, "only this source; may be repeated");
  parser.list("family", "NAME", families, "only models of conv, recurrent, transformer or dense; may be repeated");
  parser.value("rules", "FOLDER", rules_path, "rules to follow instead of those of the source tree");
  jobs.add_to(parser);
  output.add_to(parser);
  parser.example("gpuscale validate --source lambdatf");
  parser.example("gpuscale validate --family conv --format json");
  if (!parser.parse(invocation.arguments)) return kDone;
  static_cast<void>(read_format(output.format));
  check_words(families, kFamilies, "family");
  const int threads = jobs.count();
  const Library library = open_library(invocation);
  const fs::path folder = rules_folder(rules_path, library);
  std::vector<ValidationRule> rules = read_validation_rules(folder, library);
  Result result(output.output, inputs_of(rules));

  keep_sources(rules, sources);
  Validation validation;
  {
    const InterruptWatch watch([] { say("interrupted: no row can be printed before the running ones end"); },
                               output.quiet);
    Progress progress(talks_to_a_person() && !output.quiet);
    validation = validate(rules, library,
                          {.families = families,
                           .jobs = threads,
                           .on_done = [&](std::size_t done, std::size_t total) { progress.update(done, total); },
                           .stop = &watch.flag()});
  }
  write_result(result, validation, output);
  result.finish();
  if (validation.interrupted) say("interrupted: some rows are missing");
  return validation.interrupted ? kInterrupted : kDone;
}

}  // namespace gpuscale::tool

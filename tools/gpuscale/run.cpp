#include <fmt/format.h>
#include <span>

#include "exit_code.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report/csv.hpp"
#include "report/facts.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "scenario_argument.hpp"
#include "study/simulate.hpp"

namespace gpuscale::tool {

namespace {

void write(Result& result, const Report& report, const OutputOptions& options) {
  const std::span<const Report> reports(&report, 1);
  switch (read_format(options.format)) {
    case Format::table:
      return write_text(result.stream(), report, result.style(options.verbose));
    case Format::json:
      return write_json(result.stream(), reports);
    case Format::csv:
      return write_csv(result.stream(), reports);
    case Format::md:
      return write_markdown(result.stream(), report);
  }
}

int exit_code(const Report& report, const std::vector<Assertion>& assertions) {
  if (!all_hold(assertions, report, "")) return kAssertFailed;
  if (report.memory.fits) return kDone;
  const auto [needs, has] = memory_texts(report);
  say(fmt::format("the job does not fit in memory: a GPU needs {} and has {}", needs, has));
  return kDoesNotFit;
}

}  // namespace

int run_command(const Invocation& invocation) {
  ArgumentParser parser("run SCENARIO [options]",
                        "Simulates one scenario (a YAML file, the name of a shipped one, or - for standard input) "
                        "and prints a full report. A sweep: in the file is ignored here; gpuscale sweep runs it.");
  std::vector<std::string> files;
  OutputOptions output;
  ScenarioOptions scenario;
  parser.rest(files);
  scenario.add_to(parser);
  output.add_to(parser);
  parser.example("gpuscale run workloads/scenarios/quickstart.yaml");
  parser.example("gpuscale run job.yaml --set cluster.gpus=8 --set strategy.exchange.codec=int8 --format json");
  if (!parser.parse(invocation.arguments)) return kDone;
  if (files.size() != 1) throw UsageError("give one scenario file or name, or - for standard input");
  static_cast<void>(read_format(output.format));
  const std::vector<Setting> settings = scenario.settings();
  const std::vector<Assertion> assertions = scenario.assertions();
  const Library library = open_library(invocation);
  const std::filesystem::path path = scenario_path(files.front(), library);
  Result result(output.output, {path});

  const ScenarioFile file = ScenarioFile::open(path);
  Report report = simulate(file.resolve(library, settings));
  if (!file.sweep().empty()) {
    output.note(fmt::format("ran the scenario as written, without its sweep; 'gpuscale sweep {}' runs all points",
                            files.front()));
  }
  if (!output.verbose) report.layers.clear();
  write(result, report, output);
  result.finish();
  return exit_code(report, assertions);
}

}  // namespace gpuscale::tool

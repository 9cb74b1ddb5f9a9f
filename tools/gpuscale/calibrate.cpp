#include "study/calibrate.hpp"

#include <filesystem>
#include <fmt/format.h>

#include "exit_code.hpp"
#include "import/csv.hpp"
#include "options.hpp"
#include "output.hpp"
#include "scenario_argument.hpp"
#include "study/axis_text.hpp"
#include "study/calibrate_output.hpp"
#include "study/calibrate_rows.hpp"
#include "write_result.hpp"

namespace gpuscale::tool {

int calibrate_command(const Invocation& invocation) {
  ArgumentParser parser(
      "calibrate FILE.csv [options]",
      "Fits the few constants that belong to an installation to its user's own measurements: how much slower or "
      "faster than the data files say its kernels, its host and its exchanges are. One row a measurement; columns gpu, "
      "model, batch, precision, framework, gpus, machine or any path of a scenario, and throughput (samples a second) "
      "or "
      "step_time (315 ms). Prints errors before and after, and of each measurement when it is left out. --output takes "
      "the factors as a file for workload.calibrate of a scenario.");
  std::vector<std::string> files;
  std::string base;
  std::string yaml = "-";
  std::vector<std::string> set;
  OutputOptions output;
  JobsOption jobs;
  parser.rest(files);
  parser.value("scenario", "FILE", base, "a scenario that says what the rows do not");
  parser.list("set,s", "PATH=VALUE", set, "set a key of every row, as in --set framework=horovod; may be repeated");
  parser.value("output,o", "FILE", yaml, "write the factors there, as YAML");
  parser.value("format,f", "FORMAT", output.format, "of the table on stdout: table (default), json, csv or md");
  parser.flag("quiet,q", output.quiet, "no notes on stderr");
  jobs.add_to(parser);
  parser.example("gpuscale calibrate measured.csv --output my-box.yaml");
  parser.example("gpuscale run job.yaml --set workload.calibrate=my-box.yaml");
  if (!parser.parse(invocation.arguments)) return kDone;
  if (files.size() != 1) throw UsageError("give one CSV file of measurements");
  static_cast<void>(read_format(output.format));
  const int threads = jobs.count();
  const Library library = open_library(invocation);
  MeasurementBase rest = usual_base();
  std::vector<std::filesystem::path> inputs = {files.front()};
  if (!base.empty()) {
    inputs.push_back(scenario_path(base, library));
    rest = {.file = ScenarioFile::open(inputs.back()), .is_usual = false};
  }
  for (const std::string& text : set) rest.settings.push_back(usage_checked([&] { return read_setting(text); }));
  Result table("-");
  Result factors(yaml, inputs);

  const std::vector<Measurement> measurements = read_measurements(read_csv(files.front()), rest, library);
  CalibrationResult found;
  try {
    found = fit_calibration(measurements, threads);
  } catch (const ScenarioError& error) {
    std::vector<Problem> problems = error.problems();
    for (Problem& problem : problems) {
      if (problem.place.file.empty()) problem.place.file = files.front();
    }
    throw ScenarioError(std::move(problems));
  }
  write_result(table, found, output);
  table.finish();
  if (yaml == "-") {
    if (found.factors != Calibration{}) {
      output.note("--output FILE writes the factors for 'workload.calibrate' of a scenario");
    }
    return kDone;
  }
  factors.stream() << to_yaml(found, std::filesystem::path(files.front()).filename().string());
  factors.finish();
  return kDone;
}

}  // namespace gpuscale::tool

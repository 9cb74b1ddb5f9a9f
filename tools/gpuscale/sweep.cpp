#include "study/sweep.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "exit_code.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "study/axis_text.hpp"

namespace gpuscale::tool {

namespace {

void write(Result& result, const std::vector<Report>& reports, const OutputOptions& options) {
  const std::span<const Report> span(reports);
  switch (read_format(options.format)) {
    case Format::table:
      return write_text(result.stream(), span, result.style(options.verbose));
    case Format::json:
      return write_json(result.stream(), span);
    case Format::csv:
      return write_csv(result.stream(), span);
    case Format::md:
      return write_markdown(result.stream(), span);
  }
}

/// The axes of file and command line; a path that --set fixes is no axis.
std::vector<SweepAxis> axes_of(const ScenarioFile& file, const std::vector<std::string>& texts,
                               const std::vector<Setting>& settings, const OutputOptions& output) {
  std::vector<SweepAxis> given;
  for (const std::string& text : texts) given.push_back(usage_checked([&] { return read_axis(text); }));
  std::vector<SweepAxis> axes = merge_axes(file.sweep(), given);
  for (const Setting& setting : settings) {
    const std::size_t removed = std::erase_if(axes, [&](const SweepAxis& a) { return a.path == setting.path; });
    if (removed > 0) output.note(fmt::format("{} is set to {} and not swept", setting.path, setting.value));
  }
  if (axes.empty()) output.note("nothing to sweep: the file has no sweep: and --sweep is not given; one point follows");
  return axes;
}

std::string settings_text(const Report& report) {
  std::string text;
  for (const auto& [path, value] : report.settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", path, value);
  }
  return text;
}

bool all_points_hold(const std::vector<Assertion>& assertions, const std::vector<Report>& reports) {
  bool hold = true;
  for (const Report& report : reports) hold = all_hold(assertions, report, settings_text(report)) && hold;
  return hold;
}

}  // namespace

int sweep_command(const Invocation& invocation) {
  ArgumentParser parser("sweep SCENARIO [options]",
                        "Simulates every combination of the values under sweep: in the scenario (a YAML file, or - for "
                        "standard input) and of --sweep, and prints one row a point. The result is the same for any "
                        "number of jobs. Interrupted, it prints the points that are finished.");
  std::vector<std::string> files;
  std::vector<std::string> sweeps;
  OutputOptions output;
  ScenarioOptions scenario;
  JobsOption jobs;
  parser.rest(files);
  parser.list("sweep", "PATH=A,B,C", sweeps,
              "an axis, as in --sweep cluster.gpus=1,2,4; replaces the file's axis of this path; may be repeated");
  scenario.add_to(parser);
  jobs.add_to(parser);
  output.add_to(parser);
  parser.example("gpuscale sweep workloads/scenarios/conv-2019-desktop.yaml");
  parser.example("gpuscale sweep job.yaml --sweep cluster.gpus=1,2,4,8 --sweep strategy.exchange.codec=none,int8");
  if (!parser.parse(invocation.arguments)) return kDone;
  if (files.size() != 1) throw UsageError("give one scenario file, or - for standard input");
  static_cast<void>(read_format(output.format));
  const std::vector<Setting> settings = scenario.settings();
  const std::vector<Assertion> assertions = scenario.assertions();
  const int threads = jobs.count();
  Result result(output.output);

  const ScenarioFile file = ScenarioFile::open(files.front());
  const std::vector<SweepAxis> axes = axes_of(file, sweeps, settings, output);
  const std::vector<Point> points = usage_checked([&] { return expand(axes); });
  SweepResult sweep;
  {
    Progress progress(talks_to_a_person() && !output.quiet);
    const SweepOptions options{.jobs = threads,
                               .on_done = [&](std::size_t done, std::size_t total) { progress.update(done, total); },
                               .keep_layers = output.verbose,
                               .stop = &watch_interrupts()};
    sweep = run_sweep(file, open_library(invocation), settings, points, options);
  }
  if (sweep.problems.empty() || !sweep.reports.empty()) {
    write(result, sweep.reports, output);
    result.finish();
  }
  if (!sweep.problems.empty()) throw ScenarioError(sweep.problems);
  if (sweep.interrupted) {
    say(fmt::format("interrupted: {} of {} points are finished", sweep.reports.size(), points.size()));
    return kInterrupted;
  }
  return all_points_hold(assertions, sweep.reports) ? kDone : kAssertFailed;
}

}  // namespace gpuscale::tool

#include "study/sweep.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <utility>

#include "exit_code.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "scenario_argument.hpp"
#include "study/axis_text.hpp"
#include "write_result.hpp"

namespace gpuscale::tool {

namespace {

/// The axes of file and command line; one of the file that --set fixes is none.
std::vector<SweepAxis> axes_of(const ScenarioFile& file, const std::vector<std::string>& texts,
                               const std::vector<Setting>& settings, const OutputOptions& output) {
  std::vector<SweepAxis> given;
  for (const std::string& text : texts) given.push_back(usage_checked([&] { return read_axis(text); }));
  std::vector<Setting> removed;
  std::vector<SweepAxis> axes = usage_checked([&] {
    check_axes(given, settings);
    return merge_axes(without_set_axes(file.sweep(), settings, removed), given);
  });
  for (const Setting& setting : removed) {
    output.note(fmt::format("{} is set to {} and not swept", setting.path, setting.value));
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
  for (const Report& report : reports) {
    if (!is_refused(report)) hold = all_hold(assertions, report, settings_text(report)) && hold;
  }
  return hold;
}

/// Of a sweep that came to its end. Refused points are counted on stderr.
int exit_code(const std::vector<Report>& reports, const std::vector<Assertion>& assertions) {
  const std::size_t refused = count_refused(reports);
  if (refused > 0) {
    say(fmt::format("{} of {} points cannot run; 'problem' in the result says why", refused, reports.size()));
  }
  if (refused == reports.size()) return kBadInput;
  return all_points_hold(assertions, reports) ? kDone : kAssertFailed;
}

/// The finished reports of a sweep that is under way.
std::vector<Report> reports_so_far(FinishedReports& finished) {
  std::vector<Report> reports;
  for (std::optional<Report>& report : finished.take()) {
    if (report) reports.push_back(std::move(*report));
  }
  return reports;
}

int say_interrupted(std::size_t finished, std::size_t points) {
  say(fmt::format("interrupted: {} of {} points are finished", finished, points));
  return kInterrupted;
}

}  // namespace

int sweep_command(const Invocation& invocation) {
  ArgumentParser parser(
      "sweep SCENARIO [options]",
      "Simulates every combination of the values under sweep: in the scenario (a YAML file, the name "
      "of a shipped one, or - for standard input) and of --sweep, and prints one row a point. A point "
      "that cannot run, as a batch that does not divide, has the reason in its row, and --assert "
      "leaves it out. The result is the same for any number of jobs. Interrupted, it prints the "
      "points that are finished: once those that are running are, interrupted again at once.");
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
  if (files.size() != 1) throw UsageError("give one scenario file or name, or - for standard input");
  static_cast<void>(read_format(output.format));
  const std::vector<Setting> settings = scenario.settings();
  const std::vector<Assertion> assertions = scenario.assertions();
  const int threads = jobs.count();
  const Library library = open_library(invocation);
  const std::filesystem::path path = scenario_path(files.front(), library);
  Result result(output.output, {path});

  const ScenarioFile file = ScenarioFile::open(path);
  const std::vector<SweepAxis> axes = axes_of(file, sweeps, settings, output);
  std::atomic<std::size_t> point_count = 0;  // read by last words while the points may still be written out
  SweepResult sweep;
  {
    FinishedReports finished;
    const auto last_words = [&] {
      const std::vector<Report> reports = reports_so_far(finished);
      write_result(result, std::span<const Report>(reports), output);
      result.finish();
      say_interrupted(reports.size(), point_count);
    };
    const InterruptWatch watch(last_words, output.quiet);
    const std::vector<Point> points = usage_checked([&] { return expand(axes); });
    point_count = points.size();
    Progress progress(talks_to_a_person() && !output.quiet);
    const SweepOptions options{.jobs = threads,
                               .on_done = [&](std::size_t done, std::size_t total) { progress.update(done, total); },
                               .keep_layers = output.verbose,
                               .stop = &watch.flag(),
                               .finished = &finished};
    sweep = run_sweep(file, library, settings, points, options);
  }
  write_result(result, std::span<const Report>(sweep.reports), output);
  result.finish();
  if (sweep.interrupted) return say_interrupted(sweep.reports.size(), point_count);
  return exit_code(sweep.reports, assertions);
}

}  // namespace gpuscale::tool

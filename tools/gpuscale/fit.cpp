#include "study/fit.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <optional>

#include "exit_code.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "report/facts.hpp"
#include "scenario_argument.hpp"
#include "study/axis_text.hpp"
#include "study/fit_output.hpp"
#include "study/parallel_for.hpp"
#include "study/refusal.hpp"
#include "study/sweep.hpp"
#include "write_result.hpp"

namespace gpuscale::tool {

namespace {

/// A job to look at.
struct Question {
  const ScenarioFile* file;
  Point settings;
};

std::vector<Question> questions(const std::vector<ScenarioFile>& files, const std::vector<std::string>& sweeps,
                                const std::vector<Setting>& settings) {
  std::vector<SweepAxis> axes;
  for (const std::string& text : sweeps) axes.push_back(usage_checked([&] { return read_axis(text); }));
  const std::vector<Point> points = usage_checked([&] {
    check_axes(axes, settings);
    return expand(axes);
  });
  std::vector<Question> all;
  for (const ScenarioFile& file : files) {
    for (const Point& point : points) {
      Point both = settings;
      both.insert(both.end(), point.begin(), point.end());
      all.push_back({&file, std::move(both)});
    }
  }
  return all;
}

/// A job that cannot run ends the command if it is the only one; of several it is a row with the reason.
Fit look_at(const Question& question, const Library& library, bool alone) {
  try {
    return examine_fit(*question.file, library, question.settings);
  } catch (const UnfitScenario& error) {
    if (alone) throw;
    return {.report = refusal(error.scenario(), error.problems()), .changes = {}};
  }
}

int exit_code(const std::vector<Fit>& fits) {
  const auto refused = std::ranges::count_if(fits, [](const Fit& fit) { return is_refused(fit.report); });
  const auto fitting = std::ranges::count_if(fits, [](const Fit& fit) { return fit.report.memory.fits; });
  if (refused > 0) say(fmt::format("{} of {} jobs cannot run; the result says why", refused, fits.size()));
  if (refused == std::ssize(fits)) return kBadInput;
  if (fitting == std::ssize(fits)) return kDone;
  if (fits.size() == 1) {
    const auto [needs, has] = memory_texts(fits.front().report);
    say(fmt::format("the job does not fit in memory: a GPU needs {} and has {}", needs, has));
  } else {
    say(fmt::format("{} of {} jobs do not fit in memory", std::ssize(fits) - fitting, fits.size()));
  }
  return kDoesNotFit;
}

}  // namespace

int fit_command(const Invocation& invocation) {
  ArgumentParser parser("fit SCENARIO... [options]",
                        "Says whether a job fits in the memory of its GPUs: what fills it by cause, the largest batch "
                        "per GPU, and what each change would save and cost in speed: a smaller batch, 16-bit numbers, "
                        "recomputing, ZeRO, a larger card. Several scenarios or a --sweep give one row each. Exits "
                        "with 4 if a job does not fit.");
  std::vector<std::string> words;
  std::vector<std::string> sweeps;
  std::vector<std::string> set;
  OutputOptions output;
  JobsOption jobs;
  parser.rest(words);
  parser.list("set,s", "PATH=VALUE", set, "set a key of the scenario, as in --set cluster.gpus=4; may be repeated");
  parser.list("sweep", "PATH=A,B,C", sweeps,
              "look at each value, as in --sweep cluster.gpu=rtx-3090,rtx-4090; may be repeated");
  jobs.add_to(parser);
  output.add_to(parser);
  parser.example("gpuscale fit workloads/scenarios/quickstart.yaml --set workload.batch='256 per gpu'");
  parser.example("gpuscale fit job.yaml --sweep workload.model=gpt2,gpt2-medium,gpt2-xl");
  if (!parser.parse(invocation.arguments)) return kDone;
  if (words.empty()) throw UsageError("give scenario files or names, or - for standard input");
  static_cast<void>(read_format(output.format));
  std::vector<Setting> settings;
  for (const std::string& text : set) settings.push_back(usage_checked([&] { return read_setting(text); }));
  const int threads = jobs.count();
  const Library library = open_library(invocation);
  std::vector<std::filesystem::path> paths;
  for (const std::string& word : words) paths.push_back(scenario_path(word, library));
  Result result(output.output, paths);

  std::vector<ScenarioFile> files;
  for (const std::filesystem::path& path : paths) files.push_back(ScenarioFile::open(path));
  const std::vector<Question> all = questions(files, sweeps, settings);
  std::vector<std::optional<Fit>> found(all.size());
  {
    const InterruptWatch watch([] { say("interrupted: nothing is finished"); }, output.quiet);
    Progress progress(talks_to_a_person() && !output.quiet);
    std::mutex mutex;
    std::size_t done = 0;
    parallel_for(all.size(), threads, &watch.flag(), [&](std::size_t i) {
      found[i] = look_at(all[i], library, all.size() == 1);
      const std::scoped_lock lock(mutex);
      progress.update(++done, all.size());
    });
  }
  std::vector<Fit> fits;
  for (std::optional<Fit>& fit : found) {
    if (fit) fits.push_back(std::move(*fit));
  }
  if (!fits.empty()) write_result(result, fits, output);
  result.finish();
  if (fits.size() < all.size()) {
    say(fmt::format("interrupted: {} of {} jobs are finished", fits.size(), all.size()));
    return kInterrupted;
  }
  return exit_code(fits);
}

}  // namespace gpuscale::tool

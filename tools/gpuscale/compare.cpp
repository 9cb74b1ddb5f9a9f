#include "study/compare.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "exit_code.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "scenario_argument.hpp"
#include "study/candidates.hpp"
#include "study/refusal.hpp"
#include "study/strategies.hpp"
#include "write_result.hpp"

namespace gpuscale::tool {

namespace {

/// Names to tell files apart: without folder and ending where that suffices.
std::vector<std::string> file_names(const std::vector<std::string>& files) {
  std::vector<std::string> names;
  for (const std::string& file : files) names.push_back(std::filesystem::path(file).stem().string());
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (std::ranges::count(names, names[i]) > 1) return files;
  }
  return names;
}

std::vector<std::string> split_names(const std::string& text) {
  std::vector<std::string> names;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t comma = std::min(text.find(',', start), text.size());
    if (comma > start) names.push_back(text.substr(start, comma - start));
    start = comma + 1;
  }
  return names;
}

/// What is to be compared: what can be simulated, and the reports of what cannot.
struct Contenders {
  std::vector<NamedScenario> scenarios;
  std::vector<Candidate> refused;
  std::vector<std::string> notes = {};  ///< how they were chosen
};

/// Collects contenders with the problems of all of them.
class ContenderList {
 public:
  explicit ContenderList(const Library& library) : library_(library) {}

  void add(const std::string& name, const ScenarioFile& file, const std::vector<Setting>& settings) {
    try {
      all_.scenarios.push_back({name, file.resolve(library_, settings)});
    } catch (const UnfitScenario& error) {
      all_.refused.push_back({name, refusal(error.scenario(), error.problems())});
      add_new(refusals_, error.problems());
    } catch (const ScenarioError& error) {
      add_new(mistakes_, error.problems());
    }
  }

  /// \throws ScenarioError if one has a mistake or none can run.
  Contenders take() {
    if (!mistakes_.empty()) throw ScenarioError(mistakes_);
    if (all_.scenarios.empty()) throw ScenarioError(refusals_);
    return std::move(all_);
  }

 private:
  static void add_new(std::vector<Problem>& list, const std::vector<Problem>& problems) {
    for (const Problem& problem : problems) {
      if (std::ranges::find(list, problem) == list.end()) list.push_back(problem);
    }
  }

  const Library& library_;
  Contenders all_;
  std::vector<Problem> mistakes_;
  std::vector<Problem> refusals_;
};

/// The GPUs of a scenario, which may be unfit as long as no strategy is chosen.
int gpus_of(const ScenarioFile& file, const Library& library, const std::vector<Setting>& settings) {
  try {
    return file.resolve(library, settings).cluster.gpus;
  } catch (const UnfitScenario& error) {
    return error.scenario().cluster.gpus;
  }
}

Contenders contenders(const std::vector<std::string>& words, const std::vector<std::filesystem::path>& files,
                      const std::vector<std::string>& strategies, const std::vector<Setting>& settings,
                      const Library& library) {
  ContenderList all(library);
  const std::vector<std::string> names = file_names(words);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const ScenarioFile file = ScenarioFile::open(files[i]);
    if (strategies.empty()) {
      all.add(names[i], file, settings);
      continue;
    }
    const int gpus = gpus_of(file, library, settings);
    for (const std::string& strategy : strategies) {
      std::vector<Setting> with = usage_checked([&] { return strategy_settings(strategy, gpus); });
      with.insert(with.begin(), settings.begin(), settings.end());
      all.add(files.size() == 1 ? strategy : fmt::format("{}: {}", names[i], strategy), file, with);
    }
  }
  return all.take();
}

/// What is compared when no strategy is named for one file: what its model is worth splitting into.
Contenders chosen_by_model(const std::string& word, const std::filesystem::path& path,
                           const std::vector<Setting>& settings, const Library& library) {
  std::optional<Candidates> large = large_model_candidates(ScenarioFile::open(path), library, settings);
  if (large && !large->scenarios.empty())
    return {.scenarios = std::move(large->scenarios), .refused = {}, .notes = std::move(large->notes)};
  return contenders({word}, {path}, {std::begin(kUsualStrategies), std::end(kUsualStrategies)}, settings, library);
}

/// What has finished, in order, with what cannot run below.
Ranking ranking_of(std::vector<Candidate> finished, const Contenders& all, const OutputOptions& output) {
  finished.insert(finished.end(), all.refused.begin(), all.refused.end());
  Ranking ranking = rank(std::move(finished));
  ranking.notes = all.notes;
  for (RankedReport& entry : ranking.entries) {
    if (!output.verbose) entry.report.layers.clear();
  }
  return ranking;
}

void note_unlike_models(const Ranking& ranking, const OutputOptions& output) {
  for (const RankedReport& entry : ranking.entries) {
    if (entry.report.model == ranking.entries.front().report.model) continue;
    return output.note("the scenarios train different models, so a sample of one is not as much work as of another");
  }
}

bool all_entries_hold(const std::vector<Assertion>& assertions, const Ranking& ranking) {
  bool hold = true;
  for (const RankedReport& entry : ranking.entries) {
    if (!is_refused(entry.report)) hold = all_hold(assertions, entry.report, entry.name) && hold;
  }
  return hold;
}

int exit_code(const Ranking& ranking, const std::vector<Assertion>& assertions) {
  if (is_refused(ranking.entries.front().report)) return kBadInput;
  return all_entries_hold(assertions, ranking) ? kDone : kAssertFailed;
}

int say_interrupted(std::size_t finished, std::size_t all) {
  say(fmt::format("interrupted: {} of {} are finished", finished, all));
  return kInterrupted;
}

}  // namespace

int compare_command(const Invocation& invocation) {
  ArgumentParser parser(
      "compare SCENARIO... [--strategies NAMES] [options]",
      "Ranks scenarios by throughput and says why the first wins. With --strategies, or with a single "
      "file, it ranks ways to split each scenario over its GPUs: data, model or independent, with "
      "+int8 or another codec and, for data, +ring, +parameter_server_cpu or another algorithm. Of a "
      "Transformer that one GPU cannot train it tries tensor, pipeline and sharded splits instead. What "
      "does not fit in memory ranks below, and what cannot run comes last, with the reason.");
  std::vector<std::string> files;
  std::string strategies;
  OutputOptions output;
  ScenarioOptions scenario;
  JobsOption jobs;
  parser.rest(files);
  parser.value("strategies", "NAMES", strategies, "as in data,data+int8,model+int8,tensor8,pipeline4+zero1");
  scenario.add_to(parser);
  jobs.add_to(parser);
  output.add_to(parser);
  parser.example("gpuscale compare box-a.yaml box-b.yaml");
  parser.example("gpuscale compare workloads/scenarios/dense-2019-desktop.yaml --strategies data,model,model+int8");
  if (!parser.parse(invocation.arguments)) return kDone;
  if (files.empty()) throw UsageError("give scenario files or names, or one and --strategies");
  static_cast<void>(read_format(output.format));
  const std::vector<Setting> settings = scenario.settings();
  const std::vector<Assertion> assertions = scenario.assertions();
  const int threads = jobs.count();
  const Library library = open_library(invocation);
  std::vector<std::filesystem::path> paths;
  for (const std::string& file : files) paths.push_back(scenario_path(file, library));
  Result result(output.output, paths);

  const std::vector<std::string> names = split_names(strategies);
  const Contenders all = names.empty() && files.size() == 1
                             ? chosen_by_model(files.front(), paths.front(), settings, library)
                             : contenders(files, paths, names, settings, library);
  std::vector<Candidate> finished;
  {
    FinishedReports reports;
    const auto last_words = [&] {
      const std::vector<Candidate> so_far = take_candidates(all.scenarios, reports);
      write_result(result, ranking_of(so_far, all, output), output);
      result.finish();
      say_interrupted(so_far.size(), all.scenarios.size());
    };
    const InterruptWatch watch(last_words, output.quiet);
    finished = simulate_all(all.scenarios, threads, &watch.flag(), reports);
  }
  const Ranking ranking = ranking_of(finished, all, output);
  note_unlike_models(ranking, output);
  write_result(result, ranking, output);
  result.finish();
  if (finished.size() < all.scenarios.size()) return say_interrupted(finished.size(), all.scenarios.size());
  return exit_code(ranking, assertions);
}

}  // namespace gpuscale::tool

#include "study/compare.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "exit_code.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/text.hpp"
#include "study/strategies.hpp"

namespace gpuscale::tool {

namespace {

void write(Result& result, const Ranking& ranking, const OutputOptions& options) {
  switch (read_format(options.format)) {
    case Format::table:
      return write_text(result.stream(), ranking, result.style(options.verbose));
    case Format::json:
      return write_json(result.stream(), ranking);
    case Format::csv:
      return write_csv(result.stream(), ranking);
    case Format::md:
      return write_markdown(result.stream(), ranking);
  }
}

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

/// Collects what is to be compared, with the problems of all of it.
class Contenders {
 public:
  explicit Contenders(const Library& library) : library_(library) {}

  void add(const std::string& name, const ScenarioFile& file, const std::vector<Setting>& settings) {
    try {
      contenders_.push_back({name, file.resolve(library_, settings)});
    } catch (const ScenarioError& error) {
      for (const Problem& problem : error.problems()) {
        if (std::ranges::find(problems_, problem) == problems_.end()) problems_.push_back(problem);
      }
    }
  }

  /// \throws ScenarioError
  std::vector<NamedScenario> take() {
    if (!problems_.empty()) throw ScenarioError(problems_);
    return std::move(contenders_);
  }

 private:
  const Library& library_;
  std::vector<NamedScenario> contenders_;
  std::vector<Problem> problems_;
};

std::vector<NamedScenario> contenders(const std::vector<std::string>& files, const std::vector<std::string>& strategies,
                                      const std::vector<Setting>& settings, const Library& library) {
  Contenders all(library);
  const std::vector<std::string> names = file_names(files);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const ScenarioFile file = ScenarioFile::open(files[i]);
    if (strategies.empty()) {
      all.add(names[i], file, settings);
      continue;
    }
    const int gpus = file.resolve(library, settings).cluster.gpus;
    for (const std::string& strategy : strategies) {
      std::vector<Setting> with = usage_checked([&] { return strategy_settings(strategy, gpus); });
      with.insert(with.begin(), settings.begin(), settings.end());
      all.add(files.size() == 1 ? strategy : fmt::format("{}: {}", names[i], strategy), file, with);
    }
  }
  return all.take();
}

void note_unlike_models(const Ranking& ranking, const OutputOptions& output) {
  for (const RankedReport& entry : ranking.entries) {
    if (entry.report.model == ranking.entries.front().report.model) continue;
    return output.note("the scenarios train different models, so a sample of one is not as much work as of another");
  }
}

bool all_entries_hold(const std::vector<Assertion>& assertions, const Ranking& ranking) {
  bool hold = true;
  for (const RankedReport& entry : ranking.entries) hold = all_hold(assertions, entry.report, entry.name) && hold;
  return hold;
}

}  // namespace

int compare_command(const Invocation& invocation) {
  ArgumentParser parser(
      "compare SCENARIO... [--strategies NAMES] [options]",
      "Ranks scenarios by throughput and says why the first wins. With --strategies, or with a single "
      "file, it ranks ways to split each scenario over its GPUs: data, model or independent, with "
      "+int8 and other codecs and, for data, +ring, +parameter_server_cpu and other algorithms. What "
      "does not fit in memory ranks last.");
  std::vector<std::string> files;
  std::string strategies;
  OutputOptions output;
  ScenarioOptions scenario;
  JobsOption jobs;
  parser.rest(files);
  parser.value("strategies", "NAMES", strategies, "as in --strategies data,data+int8,model,model+int8,independent");
  scenario.add_to(parser);
  jobs.add_to(parser);
  output.add_to(parser);
  parser.example("gpuscale compare box-a.yaml box-b.yaml");
  parser.example("gpuscale compare workloads/scenarios/dense-2019-desktop.yaml --strategies data,model,model+int8");
  if (!parser.parse(invocation.arguments)) return kDone;
  if (files.empty()) throw UsageError("give scenario files, or one file and --strategies");
  static_cast<void>(read_format(output.format));
  const std::vector<Setting> settings = scenario.settings();
  const std::vector<Assertion> assertions = scenario.assertions();
  const int threads = jobs.count();
  Result result(output.output);

  std::vector<std::string> names = split_names(strategies);
  if (names.empty() && files.size() == 1) names.assign(std::begin(kUsualStrategies), std::end(kUsualStrategies));
  const std::vector<NamedScenario> all = contenders(files, names, settings, open_library(invocation));
  const std::vector<Candidate> finished = simulate_all(all, threads, &watch_interrupts());
  Ranking ranking = rank(finished);
  for (RankedReport& entry : ranking.entries) {
    if (!output.verbose) entry.report.layers.clear();
  }
  note_unlike_models(ranking, output);
  write(result, ranking, output);
  result.finish();
  if (finished.size() < all.size()) {
    say(fmt::format("interrupted: {} of {} are finished", finished.size(), all.size()));
    return kInterrupted;
  }
  return all_entries_hold(assertions, ranking) ? kDone : kAssertFailed;
}

}  // namespace gpuscale::tool

#include "scenario/scenario.hpp"

#include <algorithm>
#include <utility>

#include "scenario/cluster_reader.hpp"
#include "scenario/cross_checks.hpp"
#include "scenario/framework_reader.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/read_file.hpp"
#include "scenario/settings.hpp"
#include "scenario/strategy_reader.hpp"
#include "scenario/sweep_reader.hpp"
#include "scenario/workload_reader.hpp"
#include "scenario/yaml_parse.hpp"

namespace gpuscale {

namespace {

constexpr std::string_view kEmptyText =
    "the file is empty; a scenario has at least 'workload', 'cluster' and 'framework'";

/// Problems of one file together, the scenario's file first, the others as they come.
std::vector<Problem> by_file(const std::vector<Problem>& problems, const std::string& scenario_file) {
  std::vector<std::string> files = {scenario_file};
  for (const Problem& problem : problems) {
    if (std::ranges::find(files, problem.place.file) == files.end()) files.push_back(problem.place.file);
  }
  std::vector<Problem> result;
  for (const std::string& file : files) {
    for (const Problem& problem : problems) {
      if (problem.place.file == file) result.push_back(problem);
    }
  }
  return result;
}

/// Whether reading a part added no problem.
class PartCheck {
 public:
  explicit PartCheck(const Reading& reading) : reading_(reading), before_(reading.problems().size()) {}
  [[nodiscard]] bool sound() const { return reading_.problems().size() == before_; }

 private:
  const Reading& reading_;
  std::size_t before_;
};

std::string name_of_file(const std::string& file) {
  std::string stem = std::filesystem::path(file).stem().string();
  return stem.empty() || stem == "-" ? "scenario" : stem;
}

/// Free text that people leave in a scenario.
void skip_text(MapReader& reader, std::string_view key) { static_cast<void>(reader.text_or(key, "")); }

/// A scenario and whether each of its keys was read without a problem.
struct ReadScenario {
  Scenario scenario;
  bool sound = false;
};

ReadScenario read_scenario(const YamlValue& root, const std::string& file, Reading& reading) {
  ReadScenario result;
  Scenario& scenario = result.scenario;
  reading.found("", root.place());
  MapReader reader(root, "scenario", "", reading);
  scenario.name = reader.text_or("name", name_of_file(file));
  for (const std::string_view key : {"description", "source", "citation"}) skip_text(reader, key);

  SoundParts sound;
  if (const YamlValue* workload = reader.require("workload", "{model: resnet50, batch: 64 per gpu}")) {
    const PartCheck part(reading);
    read_workload(*workload, scenario.job, reading);
    sound.workload = part.sound();
  }
  if (const YamlValue* cluster =
          reader.require("cluster", "{machine: workstation-4x-pcie3-x8, gpu: gtx-1080-ti, gpus: 4}")) {
    const PartCheck part(reading);
    scenario.cluster = read_cluster(*cluster, reading);
    sound.cluster = part.sound();
  }
  {
    const PartCheck part(reading);
    if (const YamlValue* strategy = reader.find("strategy")) {
      scenario.job.parallel = read_strategy(*strategy, reading);
    }
    sound.strategy = part.sound();
  }
  if (const YamlValue* framework = reader.require("framework", "pytorch-ddp")) {
    const PartCheck part(reading);
    scenario.job.framework = read_framework(*framework, "framework", reading);
    sound.framework = part.sound();
  }
  if (const YamlValue* input = reader.find("input")) scenario.job.input = read_input_config(*input, reading);
  reader.find("sweep");  // read by ScenarioFile
  reader.finish();
  result.sound = reading.problems().empty();
  if (root.is_map()) check_across(scenario, sound, reading);
  return result;
}

}  // namespace

UnfitScenario::UnfitScenario(std::vector<Problem> problems, Scenario scenario)
    : ScenarioError(std::move(problems)), scenario_(std::make_shared<const Scenario>(std::move(scenario))) {}

ScenarioFile ScenarioFile::parse(std::string text, std::string file_name) {
  auto document = std::make_shared<YamlDocument>(parse_yaml(text, file_name));
  if (document->problems.empty() && document->root.is_null()) {
    document->problems.push_back({{file_name, 0, 0}, std::string(kEmptyText)});
  }
  if (!document->problems.empty()) throw ScenarioError(std::move(document->problems));
  ScenarioFile file;
  file.file_name_ = std::move(file_name);
  if (const YamlEntry* sweep = document->root.find("sweep"); sweep != nullptr && !sweep->value.is_null()) {
    file.sweep_ = read_sweep(sweep->value, file.sweep_problems_);
  }
  file.document_ = std::move(document);
  return file;
}

ScenarioFile ScenarioFile::open(const std::filesystem::path& path) {
  const std::string name = path == "-" ? "standard input" : path.string();
  FileText text = read_stream(path);
  if (!text.problem.empty()) throw ScenarioError({{{name, 0, 0}, text.problem}});
  return parse(std::move(text.text), name);
}

Scenario ScenarioFile::resolve(const Library& library, const std::vector<Setting>& settings) const {
  return resolve(library, settings, nullptr);
}

Scenario ScenarioFile::resolve(const Library& library, const std::vector<Setting>& settings,
                               std::set<std::string>* asked) const {
  Reading reading(library);
  reading.asked = asked;
  reading.note(sweep_problems_);
  YamlValue root = document_->root;
  std::vector<Problem> setting_problems;
  apply_settings(root, settings, setting_problems);
  reading.note(std::move(setting_problems));
  ReadScenario read = read_scenario(root, file_name_, reading);
  read.scenario.settings = settings;
  read.scenario.provenance = reading.provenance();
  if (reading.problems().empty()) return std::move(read.scenario);
  std::vector<Problem> problems = by_file(reading.problems(), file_name_);
  if (read.sound) throw UnfitScenario(std::move(problems), std::move(read.scenario));
  throw ScenarioError(std::move(problems));
}

Scenario load_scenario(const std::filesystem::path& path, const Library& library,
                       const std::vector<Setting>& settings) {
  return ScenarioFile::open(path).resolve(library, settings);
}

}  // namespace gpuscale

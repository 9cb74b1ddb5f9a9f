#include "scenario/hardware.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "scenario/cluster_reader.hpp"
#include "scenario/cross_checks.hpp"
#include "scenario/framework_reader.hpp"
#include "scenario/map_reader.hpp"
#include "scenario/read_file.hpp"
#include "scenario/settings.hpp"
#include "scenario/yaml_parse.hpp"

namespace gpuscale {

namespace {

YamlValue text_value(std::string text, const YamlValue& beside) {
  YamlValue value;
  value.kind = YamlKind::scalar;
  value.text = std::move(text);
  value.file = beside.file;
  value.line = beside.line;
  value.column = beside.column;
  return value;
}

YamlValue map_of(std::string key, YamlValue value) {
  YamlValue map;
  map.kind = YamlKind::map;
  map.file = value.file;
  map.line = value.line;
  map.column = value.column;
  map.entries.push_back({std::move(key), value.line, value.column, value.file, std::move(value)});
  return map;
}

YamlValue read_document(const std::filesystem::path& path) {
  const std::string name = path == "-" ? "standard input" : path.string();
  FileText text = read_stream(path);
  if (!text.problem.empty()) throw ScenarioError({{{name, 0, 0}, text.problem}});
  YamlDocument document = parse_yaml(text.text, name);
  if (document.problems.empty() && !document.root.is_map()) {
    document.problems.push_back({{name, 0, 0}, "is no scenario, cluster file or machine file"});
  }
  if (!document.problems.empty()) throw ScenarioError(std::move(document.problems));
  return std::move(document.root);
}

/// A machine or cluster file as the scenario that names it; a scenario as it is.
YamlValue as_scenario(YamlValue root, const std::filesystem::path& path) {
  if (root.find("cluster") != nullptr || path == "-") return root;
  const std::string described = std::filesystem::absolute(path).string();  // a name would be looked up
  if (root.find("devices") != nullptr || root.find("like") != nullptr) {
    return map_of("cluster", map_of("machine", text_value(described, root)));
  }
  if (root.find("machine") != nullptr) return map_of("cluster", map_of("name", text_value(described, root)));
  return root;
}

Hardware read_hardware(const YamlValue& root, const UsualFramework& usual, Reading& reading) {
  Scenario scenario;
  SoundParts sound;
  reading.found("", root.place());
  MapReader reader(root, "scenario", "", reading);
  const std::size_t before = reading.problems().size();
  if (const YamlValue* cluster = reader.require("cluster", "{machine: dgx-1-v100, gpu: v100-sxm2}")) {
    scenario.cluster = read_cluster(*cluster, reading, MissingGpus::all_slots);
    sound.cluster = reading.problems().size() == before;
  }
  const YamlValue* written = reader.find("framework");
  if (usual) {
    const YamlValue fallback = text_value(usual(scenario.cluster.gpu), root);
    scenario.job.framework = read_framework(written != nullptr ? *written : fallback, "framework", reading);
  }
  check_across(scenario, sound, reading);
  return {std::move(scenario.cluster), std::move(scenario.job.framework), {}};
}

}  // namespace

Hardware load_hardware(const std::optional<std::filesystem::path>& file, const std::vector<Setting>& settings,
                       const UsualFramework& usual, const Library& library) {
  YamlValue root;
  root.kind = YamlKind::map;
  if (file) root = as_scenario(read_document(*file), *file);
  Reading reading(library);
  std::vector<Problem> setting_problems;
  apply_settings(root, settings, setting_problems);
  reading.note(std::move(setting_problems));
  Hardware hardware = read_hardware(root, usual, reading);
  if (!reading.problems().empty()) throw ScenarioError(reading.problems());
  hardware.provenance = reading.provenance();
  return hardware;
}

}  // namespace gpuscale

#include "hardware_options.hpp"

#include <optional>

#include "options.hpp"
#include "study/axis_text.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale::tool {

namespace {

constexpr std::string_view kSetting = "--set cluster.";

/// A problem with --machine is not one with --set.
Problem in_own_words(Problem problem) {
  if (!problem.place.file.starts_with(kSetting)) return problem;
  const std::string key = problem.place.file.substr(kSetting.size());
  if (key == "machine" || key == "gpu" || key == "gpus" || key == "nodes" || key == "fabric") {
    problem.place.file = "--" + key;
  }
  return problem;
}

}  // namespace

void HardwareOptions::add_to(ArgumentParser& parser) {
  parser.rest(files);
  parser.value("machine,m", "NAME", machine, "the box: a name of 'gpuscale list machines' or a path");
  parser.value("gpu,g", "NAME", gpu, "the card in its slots: a name of 'gpuscale list gpus' or a path");
  parser.value("gpus,n", "N", gpus, "how many GPUs take part, over all nodes (default: all)");
  parser.value("nodes", "N", nodes, "how many boxes (default: 1)");
  parser.value("fabric", "NAME", fabric, "what joins the boxes: a name of 'gpuscale list fabrics' or a path");
  parser.list("set,s", "PATH=VALUE", set, "set a key, as in --set cluster.placement=spread; may be repeated");
}

std::vector<Setting> HardwareOptions::settings() const {
  std::vector<Setting> settings;
  if (!machine.empty()) settings.push_back({"cluster.machine", machine});
  if (!gpu.empty()) settings.push_back({"cluster.gpu", gpu});
  if (gpus) settings.push_back({"cluster.gpus", std::to_string(*gpus)});
  if (nodes) settings.push_back({"cluster.nodes", std::to_string(*nodes)});
  if (!fabric.empty()) settings.push_back({"cluster.fabric", fabric});
  if (!framework.empty()) settings.push_back({"framework", framework});
  for (const std::string& text : set) settings.push_back(usage_checked([&] { return read_setting(text); }));
  return settings;
}

std::vector<std::filesystem::path> HardwareOptions::inputs() const {
  std::vector<std::filesystem::path> paths(files.begin(), files.end());
  for (const std::string* word : {&machine, &gpu, &fabric, &framework}) {
    if (!word->empty()) paths.emplace_back(*word);
  }
  return paths;
}

Hardware HardwareOptions::load(const Invocation& invocation, const UsualFramework& usual) const {
  if (files.size() > 1) throw UsageError("give one file");
  if (files.empty() && machine.empty()) throw UsageError("give a scenario or machine file, or --machine NAME");
  const std::optional<std::filesystem::path> file =
      files.empty() ? std::nullopt : std::optional<std::filesystem::path>(files.front());
  try {
    return load_hardware(file, settings(), usual, open_library(invocation));
  } catch (const ScenarioError& error) {
    std::vector<Problem> problems;
    for (const Problem& problem : error.problems()) problems.push_back(in_own_words(problem));
    throw ScenarioError(std::move(problems));
  }
}

}  // namespace gpuscale::tool

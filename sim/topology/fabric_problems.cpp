#include <algorithm>
#include <set>
#include <string>

#include "topology/fabric_parts.hpp"

namespace gpuscale {

namespace {

/// More switches or links than any cluster that was built has.
constexpr std::int64_t kMostParts = 2'000'000;

std::string times(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += (text.empty() ? "" : "x") + std::to_string(number);
  return text;
}

std::int64_t product(const std::vector<int>& numbers) {
  std::int64_t result = 1;
  for (const int number : numbers) result = std::min<std::int64_t>(result * number, 1'000'000'000);
  return result;
}

std::string adapters_in_words(const ClusterSpec& spec) {
  const std::int64_t each = adapters_per_box(spec.machine);
  return std::to_string(each * spec.nodes) + " network adapters (" + std::to_string(spec.nodes) + " nodes of " +
         std::to_string(each) + ")";
}

std::string torus_problem(const ClusterSpec& spec) {
  const FabricSpec& fabric = *spec.fabric;
  const std::int64_t each = adapters_per_box(spec.machine);
  if (product(fabric.size) != each * spec.nodes) {
    return "a torus of " + times(fabric.size) + " has " + std::to_string(product(fabric.size)) +
           " positions, and the cluster has " + adapters_in_words(spec) + "; make them equal";
  }
  if (fabric.block.size() != fabric.size.size() || product(fabric.block) != each) {
    return "a 'block' of " + times(fabric.block) + " does not hold the " + std::to_string(each) +
           " adapters of a box in " + std::to_string(fabric.size.size()) + " dimensions; write one as [1, " +
           std::to_string(each) + "]";
  }
  for (std::size_t i = 0; i < fabric.size.size(); ++i) {
    if (fabric.size[i] % fabric.block[i] == 0) continue;
    return "blocks of " + times(fabric.block) + " do not fill a torus of " + times(fabric.size);
  }
  return "";
}

std::string fat_tree_problem(const ClusterSpec& spec, std::int64_t adapters) {
  const std::int64_t ports = spec.fabric->ports;
  if (ports == 0) return "";
  if (ports % 2 != 0) return "a fat tree needs switches with an even number of 'ports', not " + std::to_string(ports);
  const std::int64_t most = ports * ports * ports / 4;
  if (adapters <= most) return "";
  return "a fat tree of switches with " + std::to_string(ports) + " ports joins " + std::to_string(most) +
         " adapters, and the cluster has " + adapters_in_words(spec) + "; write more ports or leave 'ports' out";
}

std::string dragonfly_problem(const ClusterSpec& spec, std::int64_t adapters) {
  const DragonflyShape shape = dragonfly_shape(*spec.fabric, adapters);
  if (shape.groups > 1 && shape.routers * shape.global_links < shape.groups - 1) {
    return "a dragonfly of " + std::to_string(shape.groups) + " groups needs " + std::to_string(shape.groups - 1) +
           " links out of each, and " + std::to_string(shape.routers) + " routers with " +
           std::to_string(shape.global_links) + " 'global_links' have " +
           std::to_string(shape.routers * shape.global_links) + "; write more of them, or more 'routers'";
  }
  const std::int64_t links = shape.groups * shape.routers * (shape.routers + shape.global_links);
  return links > kMostParts ? "a dragonfly with " + std::to_string(links) + " ports is too large" : "";
}

std::string leaf_problem(const ClusterSpec& spec, std::int64_t leaves, std::int64_t below) {
  const std::int64_t uplinks = uplinks_of_leaf(*spec.fabric, below);
  if (spec.fabric->spines > uplinks && leaves > 1) {
    return std::to_string(spec.fabric->spines) + " 'spines' are more than the " + std::to_string(uplinks) +
           " links up from each leaf; write at most " + std::to_string(uplinks) + " or a lower 'oversubscription'";
  }
  const bool too_large = leaves > kMostParts || uplinks > kMostParts / std::max<std::int64_t>(1, leaves);
  return too_large ? "a fabric of " + std::to_string(leaves) + " leaves with " + std::to_string(uplinks) +
                         " links up each is too large"
                   : "";
}

std::vector<Problem> graph_problems(const ClusterSpec& spec) {
  const FabricSpec& fabric = *spec.fabric;
  std::vector<std::string> adapters;
  for (const DeviceSpec& device : spec.machine.devices) {
    if (device.kind == DeviceKind::nic) adapters.push_back(device.name);
  }
  const std::set<std::string> switches(fabric.switches.begin(), fabric.switches.end());
  const auto is_adapter = [&](const std::string& name) {
    const std::size_t dot = name.find('.');
    if (!name.starts_with("node") || dot == std::string::npos || dot < 5 || dot > 12) return false;
    const std::string number = name.substr(4, dot - 4);
    if (number.find_first_not_of("0123456789") != std::string::npos || (number.size() > 1 && number[0] == '0'))
      return false;
    return std::stol(number) < spec.nodes && std::ranges::find(adapters, name.substr(dot + 1)) != adapters.end();
  };
  std::vector<Problem> problems;
  for (const ConnectionSpec& connection : fabric.connections) {
    for (const std::string* end : {&connection.from, &connection.to}) {
      if (switches.contains(*end) || is_adapter(*end)) continue;
      problems.push_back({connection.place, "'" + *end +
                                                "' is neither a switch of this fabric nor a network adapter of the "
                                                "cluster; adapters are written as node0.nic0"});
      return problems;
    }
  }
  return problems;
}

}  // namespace

int adapters_per_box(const MachineSpec& machine) {
  return static_cast<int>(std::ranges::count(machine.devices, DeviceKind::nic, &DeviceSpec::kind));
}

std::vector<Problem> fabric_problems(const ClusterSpec& spec) {
  if (!spec.fabric || spec.nodes < 2 || adapters_per_box(spec.machine) == 0) return {};
  const FabricSpec& fabric = *spec.fabric;
  const std::int64_t each = adapters_per_box(spec.machine);
  const std::int64_t adapters = each * spec.nodes;
  std::string text;
  switch (fabric.kind) {
    case FabricKind::single_switch:
      break;
    case FabricKind::leaf_spine:
      text = leaf_problem(spec, (adapters + fabric.leaf_ports - 1) / fabric.leaf_ports, fabric.leaf_ports);
      break;
    case FabricKind::rail_optimised:
      text = leaf_problem(spec, (spec.nodes + fabric.leaf_boxes - 1) / fabric.leaf_boxes * each, fabric.leaf_boxes);
      break;
    case FabricKind::fat_tree:
      text = fat_tree_problem(spec, adapters);
      break;
    case FabricKind::dragonfly:
      text = dragonfly_problem(spec, adapters);
      break;
    case FabricKind::torus:
      text = torus_problem(spec);
      break;
    case FabricKind::graph:
      return graph_problems(spec);
  }
  if (text.empty()) return {};
  return {{fabric.place, text}};
}

}  // namespace gpuscale

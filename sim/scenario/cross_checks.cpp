#include "scenario/cross_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/codec_checks.hpp"
#include "scenario/schedule_checks.hpp"
#include "scenario/strategy_checks.hpp"
#include "topology/box_pieces.hpp"
#include "topology/cards.hpp"
#include "topology/fabric.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

std::int64_t slots(const MachineSpec& machine) {
  return std::ranges::count(machine.devices, DeviceKind::gpu, &DeviceSpec::kind);
}

/// Devices and links of a cluster that can be held in memory: some 40,000 boxes of eight cards.
constexpr std::int64_t kMostParts = 4'000'000;

std::int64_t parts_of_box(const MachineSpec& machine) {
  return static_cast<std::int64_t>(machine.devices.size() + machine.connections.size());
}

void check_cluster(const ClusterSpec& cluster, Reading& reading) {
  const std::int64_t slots_here = slots(cluster.machine);
  const std::int64_t slots_all = slots_here * cluster.nodes;
  if (cluster.gpus > slots_all) {
    reading.note(
        reading.place_of("cluster.gpus"),
        fmt::format("{} GPUs do not fit: the machine {} has {} GPU slots and there {} {}; ask for at most {} or add "
                    "nodes",
                    cluster.gpus, in_quotes(cluster.machine.id), slots_here, cluster.nodes == 1 ? "is" : "are",
                    cluster.nodes == 1 ? "1 node" : fmt::format("{} nodes", cluster.nodes), slots_all));
  }
  reading.note(reach_problems(cluster));
  if (cluster.nodes == 1) return;
  if (!cluster.fabric && !reading.has("cluster.fabric")) {
    reading.note(
        reading.place_of("cluster.nodes"),
        fmt::format("{} nodes need a fabric to join them; add a line such as 'fabric: fdr-infiniband' to the cluster",
                    cluster.nodes));
  }
  if (std::ranges::find(cluster.machine.devices, DeviceKind::nic, &DeviceSpec::kind) == cluster.machine.devices.end()) {
    reading.note(
        reading.place_of("cluster.nodes"),
        fmt::format("{} nodes cannot be joined: the machine {} has no device of kind nic; choose one that has, or "
                    "add 'nic0: {{kind: nic}}' and its link",
                    cluster.nodes, in_quotes(cluster.machine.id)));
  }
  if (const std::int64_t parts = parts_of_box(cluster.machine) * cluster.nodes; parts > kMostParts) {
    reading.note(reading.place_of("cluster.nodes"),
                 fmt::format("{} nodes of the machine {} have {} devices and links, more than {}; ask for fewer nodes",
                             cluster.nodes, in_quotes(cluster.machine.id), parts, kMostParts));
  } else {
    reading.note(fabric_problems(cluster));
  }
}

/// NVLinks of a machine that end at a GPU slot.
struct SlotLinks {
  std::string slot;
  const LinkType* type = nullptr;
  int lanes = 0;
};

/// In the order of the machine's links; lanes summed up link by link, as a card has to have them.
std::vector<SlotLinks> nvlinks_of(const MachineSpec& machine) {
  std::map<std::string, int, std::less<>> used;
  std::set<std::string_view> gpus;
  for (const DeviceSpec& device : machine.devices) {
    if (device.kind == DeviceKind::gpu) gpus.insert(device.name);
  }
  std::vector<SlotLinks> links;
  for (const ConnectionSpec& connection : machine.connections) {
    if (connection.type.kind != "nvlink") continue;
    for (const std::string* end : {&connection.from, &connection.to}) {
      if (!gpus.contains(*end)) continue;
      links.push_back({*end, &connection.type, used[*end] += connection.lanes});
    }
  }
  return links;
}

/// What is wrong with a card in a slot that has NVLinks; empty if nothing.
std::string nvlink_problem(const Gpu& gpu, const SlotLinks& links, const std::string& machine) {
  if (!gpu.nvlink) {
    return fmt::format("the machine {} joins its GPUs by {}, and the card {} has no NVLink; choose another of the two",
                       in_quotes(machine), links.type->id, in_quotes(gpu.id));
  }
  if (gpu.nvlink->type != links.type->id) {
    return fmt::format("the machine {} joins its GPUs by {}, and the card {} has {}; choose another of the two",
                       in_quotes(machine), links.type->id, in_quotes(gpu.id), gpu.nvlink->type);
  }
  if (links.lanes > gpu.nvlink->lanes) {
    return fmt::format("the machine {} takes more NVLinks of {} than the {} that the card {} has", in_quotes(machine),
                       in_quotes(links.slot), gpu.nvlink->lanes, in_quotes(gpu.id));
  }
  return "";
}

/// NVLink bridges and cubes belong to a card as much as to a machine.
void check_nvlink(const ClusterSpec& cluster, Reading& reading) {
  std::map<std::string, std::size_t, std::less<>> slots;
  for (const DeviceSpec& device : cluster.machine.devices) {
    if (device.kind == DeviceKind::gpu) slots.emplace(device.name, slots.size());
  }
  const std::size_t boxes = std::max<std::size_t>(1, cluster.card_of_slot.size());
  for (const SlotLinks& links : nvlinks_of(cluster.machine)) {
    for (std::size_t box = 0; box < boxes; ++box) {
      const Gpu& gpu = card(cluster, card_at(cluster, box, slots.at(links.slot)));
      std::string problem = nvlink_problem(gpu, links, cluster.machine.id);
      if (!problem.empty()) return reading.note(reading.place_of("cluster.gpu"), std::move(problem));
    }
  }
}

void check_precision(const Scenario& scenario, Reading& reading) {
  const Precision wanted = scenario.job.precision;
  for (std::size_t kind = 0; kind < card_kinds(scenario.cluster); ++kind) {
    const Gpu& gpu = card(scenario.cluster, kind);
    if (rate_at(gpu.peak, wanted) || rate_at(gpu.matrix, wanted)) continue;
    std::vector<std::string_view> has;
    for (std::size_t i = 0; i < kPrecisionNames.size(); ++i) {
      if (gpu.peak[i] || gpu.matrix[i]) has.push_back(kPrecisionNames[i]);
    }
    reading.note(reading.place_of("workload.precision"),
                 fmt::format("the card {} does not compute in {}; it has {}", in_quotes(gpu.id), name(wanted),
                             fmt::join(has, ", ")));
  }
}

void check_transfer(const Scenario& scenario, Reading& reading) {
  if (scenario.cluster.gpus < 2) {
    reading.note(reading.place_of("cluster.gpus"), "a transfer goes from the first GPU to the second; ask for 2 GPUs");
  }
  ParallelConfig asked = scenario.job.parallel;
  asked.exchange = {};
  asked.fold = true;
  if (asked != ParallelConfig{}) {
    reading.note(reading.place_of("strategy"), "a transfer is not split; leave everything but 'exchange.codec' out");
  }
}

}  // namespace

void check_across(const Scenario& scenario, const SoundParts& sound, Reading& reading) {
  if (sound.cluster) check_cluster(scenario.cluster, reading);
  if (sound.cluster) check_nvlink(scenario.cluster, reading);
  if (sound.cluster && sound.workload) check_precision(scenario, reading);
  if (sound.strategy) check_codecs(scenario, sound, reading);
  if (sound.strategy) check_exchange_schedule(scenario, sound, reading);
  if (scenario.job.transfer) {
    if (sound.cluster && sound.strategy && sound.workload) check_transfer(scenario, reading);
    return;
  }
  check_strategy(scenario, sound, reading);
}

}  // namespace gpuscale

#include "topology/cards.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace gpuscale {

namespace {

constexpr std::size_t kUnused = static_cast<std::size_t>(-1);

/// By old number, the new one: in order of the ranks.
std::vector<std::size_t> numbers_in_use(const ClusterSpec& spec) {
  std::vector<std::size_t> numbers(card_kinds(spec), kUnused);
  std::size_t used = 0;
  for (const RankSlot& rank : rank_slots(spec)) {
    std::size_t& number = numbers[card_at(spec, rank.box, rank.slot)];
    if (number == kUnused) number = used++;
  }
  return numbers;
}

bool fits_slots(const ClusterSpec& spec) {
  const auto slots = std::ranges::count(spec.machine.devices, DeviceKind::gpu, &DeviceSpec::kind);
  return spec.gpus <= slots * spec.nodes;
}

void fit_slots(ClusterSpec& spec, const BusOfCard& bus) {
  std::set<std::string_view> gpus;
  for (const DeviceSpec& device : spec.machine.devices) {
    if (device.kind == DeviceKind::gpu) gpus.insert(device.name);
  }
  for (ConnectionSpec& connection : spec.machine.connections) {
    if (gpus.contains(connection.from) || gpus.contains(connection.to)) connection = in_slot(connection, bus);
  }
}

}  // namespace

Bytes least_memory(const ClusterSpec& spec) {
  Bytes least = spec.gpu.memory_size;
  for (const CardKind& other : spec.other_cards) least = std::min(least, other.gpu.memory_size);
  return least;
}

std::size_t card_at(const ClusterSpec& spec, std::size_t box, std::size_t slot) {
  return spec.card_of_slot.empty() ? 0 : spec.card_of_slot[box % spec.card_of_slot.size()][slot];
}

std::vector<std::size_t> cards_of_ranks(const Cluster& cluster) {
  std::vector<std::size_t> kinds;
  kinds.reserve(cluster.ranks.size());
  for (const DeviceId rank : cluster.ranks) kinds.push_back(cluster.topology.device(rank).card);
  return kinds;
}

ClusterSpec one_card(ClusterSpec spec, std::size_t kind) {
  if (kind > 0) {
    CardKind& other = spec.other_cards[kind - 1];
    spec.gpu = std::move(other.gpu);
    spec.gpu_bus = std::move(other.bus);
    spec.cooling = other.cooling;
  }
  spec.other_cards.clear();
  spec.card_of_slot.clear();
  spec.gpus = 1;
  spec.nodes = 1;
  spec.fabric.reset();
  if (spec.cooling) spec.cooling->neighbours = 0;
  return spec;
}

void keep_cards_in_use(ClusterSpec& spec) {
  if (!spec.other_cards.empty()) {
    const std::vector<std::size_t> numbers = numbers_in_use(spec);
    std::vector<CardKind> kinds(numbers.size());
    std::size_t used = 0;
    for (std::size_t kind = 0; kind < numbers.size(); ++kind) {
      if (numbers[kind] == kUnused) continue;
      CardKind& kept = kinds[numbers[kind]];
      kept = kind == 0 ? CardKind{spec.gpu, spec.gpu_bus, spec.cooling} : spec.other_cards[kind - 1];
      ++used;
    }
    kinds.resize(used);
    spec.gpu = std::move(kinds.front().gpu);
    spec.gpu_bus = std::move(kinds.front().bus);
    spec.cooling = kinds.front().cooling;
    kinds.erase(kinds.begin());
    spec.other_cards = std::move(kinds);
    for (std::vector<std::size_t>& slots : spec.card_of_slot) {
      // What sits in a slot that no rank uses is of no account.
      for (std::size_t& kind : slots) kind = numbers[kind] == kUnused ? 0 : numbers[kind];
    }
  }
  if (!spec.other_cards.empty()) return;
  spec.card_of_slot.clear();
  if (spec.gpu_bus) fit_slots(spec, *std::exchange(spec.gpu_bus, std::nullopt));
}

std::string cards_in_words(const ClusterSpec& spec, std::string Gpu::*what) {
  if (spec.other_cards.empty()) return spec.gpu.*what;
  std::vector<int> counts(card_kinds(spec), 0);
  // More GPUs than slots: what was asked for is told all the same.
  if (!fits_slots(spec)) return spec.gpu.*what + " and others";
  for (const RankSlot& rank : rank_slots(spec)) ++counts[card_at(spec, rank.box, rank.slot)];
  std::string text;
  for (std::size_t kind = 0; kind < counts.size(); ++kind)
    text += (kind == 0 ? "" : " + ") + std::to_string(counts[kind]) + "x " + card(spec, kind).*what;
  return text;
}

}  // namespace gpuscale

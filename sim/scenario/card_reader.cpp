#include "scenario/card_reader.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>
#include <utility>

#include "scenario/device_names.hpp"
#include "scenario/gpu_reader.hpp"
#include "topology/cluster.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::string_view kNode = "node";

/// Names of the GPU slots of a box, in order.
std::vector<std::string> slots_of(const MachineSpec& machine) {
  std::vector<std::string> slots;
  for (const DeviceSpec& device : machine.devices) {
    if (device.kind == DeviceKind::gpu) slots.push_back(device.name);
  }
  return slots;
}

/// "node3"
bool is_node(std::string_view name) {
  if (!name.starts_with(kNode)) return false;
  name.remove_prefix(kNode.size());
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_slot(std::string_view name, const std::vector<std::string>& slots) {
  return std::ranges::find(slots, name) != slots.end();
}

/// Whether the keys of a map are boxes or slots; those of one card are not.
bool says_where(const YamlValue& value, const MachineSpec& machine) {
  if (!value.is_map()) return false;
  const std::vector<std::string> slots = slots_of(machine);
  return std::ranges::any_of(value.entries, [&](const YamlEntry& entry) {
    if (entry.key.find('[') != std::string::npos) return true;
    return is_node(entry.key) || is_slot(entry.key, slots);
  });
}

/// "node2" or "node2 and 3 more": names of what was left out.
std::string first_of(const std::vector<std::string>& names) {
  return names.size() == 1 ? names.front() : fmt::format("{} and {} more", names.front(), names.size() - 1);
}

}  // namespace

void CardReader::add_kind(const YamlValue& card) {
  if (numbers_.try_emplace(to_yaml(card), cards_.size()).second) cards_.push_back(&card);
}

void CardReader::read_kinds(ClusterSpec& cluster) {
  const auto add_all = [&](const YamlValue& value) {
    if (!value.is_list()) return add_kind(value);
    if (value.items.empty()) note(value.place(), "an empty list has no card; name one for each GPU slot");
    for (const YamlValue& item : value.items) add_kind(item);
  };
  if (says_where(*value_, cluster.machine)) {
    for (const YamlEntry& entry : value_->entries) add_all(entry.value);
  } else {
    add_all(*value_);
  }
  for (std::size_t kind = 0; kind < cards_.size(); ++kind) {
    Gpu gpu = read_gpu(*cards_[kind], "cluster.gpu", *reading_);
    if (kind == 0) {
      cluster.gpu = std::move(gpu);
    } else {
      cluster.other_cards.push_back({.gpu = std::move(gpu)});
    }
  }
}

void CardReader::read_buses(ClusterSpec& cluster, LinkTypes& types) {
  const auto bus_of = [&](const Gpu& gpu, const YamlValue& written) -> std::optional<BusOfCard> {
    YamlValue text = written;
    text.kind = YamlKind::scalar;
    text.text = fmt::format("{} x{}", gpu.host_bus.type, gpu.host_bus.lanes);
    const std::optional<LinkOfType> bus = types.read(text, *reading_);
    return bus ? std::optional(BusOfCard{.type = bus->type, .lanes = bus->lanes}) : std::nullopt;
  };
  cluster.gpu_bus = bus_of(cluster.gpu, *cards_.front());
  for (std::size_t i = 0; i < cluster.other_cards.size(); ++i)
    cluster.other_cards[i].bus = bus_of(cluster.other_cards[i].gpu, *cards_[i + 1]);
}

CardReader::Kinds CardReader::kinds_of(const YamlValue& list) const {
  Kinds kinds;
  for (const YamlValue& item : list.items) kinds.push_back(numbers_.at(to_yaml(item)));
  return kinds;
}

void CardReader::place_cards(ClusterSpec& cluster) {
  if (value_->is_list()) return place_list(cluster);
  if (says_where(*value_, cluster.machine)) place_map(cluster);
}

void CardReader::place_list(ClusterSpec& cluster) {
  const Kinds kinds = kinds_of(*value_);
  const std::size_t slots = slots_of(cluster.machine).size();
  const auto gpus = static_cast<std::size_t>(cluster.gpus);
  const auto boxes = static_cast<std::size_t>(cluster.nodes);
  if (kinds.size() == slots) {
    cluster.card_of_slot = {kinds};
    return;
  }
  if (kinds.size() != gpus) {
    const std::string of_job = gpus == slots ? "" : fmt::format(", or {}, one for each GPU of the job", gpus);
    note(value_->place(), fmt::format("{} card{} for the {} GPU slot{} of the machine {}; name {}, one for each slot{}",
                                      kinds.size(), kinds.size() == 1 ? "" : "s", slots, slots == 1 ? "" : "s",
                                      in_quotes(cluster.machine.id), slots, of_job));
    return;
  }
  if (gpus > slots * boxes) return;  // noted by the checks across keys
  cluster.card_of_slot.assign(boxes, Kinds(slots, 0));
  const std::vector<RankSlot> ranks = rank_slots(cluster);
  for (std::size_t rank = 0; rank < gpus; ++rank) cluster.card_of_slot[ranks[rank].box][ranks[rank].slot] = kinds[rank];
}

std::optional<CardReader::Kinds> CardReader::box_of(const YamlValue& value, const MachineSpec& machine) {
  const std::size_t slots = slots_of(machine).size();
  if (!value.is_list()) return Kinds(slots, numbers_.at(to_yaml(value)));
  if (value.items.size() == slots) return kinds_of(value);
  note(value.place(),
       fmt::format("{} card{} for the {} GPU slots of the machine {}; name one for each slot", value.items.size(),
                   value.items.size() == 1 ? "" : "s", slots, in_quotes(machine.id)));
  return std::nullopt;
}

void CardReader::place_map(ClusterSpec& cluster) {
  const bool by_node =
      std::ranges::any_of(value_->entries, [](const YamlEntry& entry) { return entry.key.starts_with(kNode); });
  std::vector<std::string> places;  // nodes or slots
  if (by_node) {
    for (int box = 0; box < cluster.nodes; ++box) places.push_back(fmt::format("{}{}", kNode, box));
  } else {
    places = slots_of(cluster.machine);
  }
  const std::vector<Kinds> cards = read_places(places, by_node, cluster.machine);
  if (cards.empty()) return;
  if (by_node) {
    cluster.card_of_slot = cards;
  } else {
    cluster.card_of_slot = {Kinds()};
    for (const Kinds& card : cards) cluster.card_of_slot.front().push_back(card.front());
  }
}

std::vector<CardReader::Kinds> CardReader::read_places(const std::vector<std::string>& places, bool by_node,
                                                       const MachineSpec& machine) {
  std::map<std::string_view, std::size_t> number;
  for (std::size_t i = 0; i < places.size(); ++i) number.emplace(places[i], i);
  std::vector<Kinds> cards(places.size());
  const std::size_t problems_before = reading_->problems().size();
  for (const YamlEntry& entry : value_->entries) {
    const std::optional<std::vector<std::string>> names = device_names(entry.key);
    if (!names) {
      note(entry.place(), fmt::format("{} is not a node or a GPU slot or a range of them; write node[0-3] or gpu[0-3]",
                                      in_quotes(entry.key)));
      continue;
    }
    if (!by_node && entry.value.is_list()) {
      note(entry.value.place(), "a GPU slot holds one card; name one, or write a list by nodes: node[0-3]");
      continue;
    }
    const std::optional<Kinds> kinds = box_of(entry.value, machine);
    if (!kinds) continue;
    for (const std::string& name : *names) {
      const auto found = number.find(name);
      const bool is_known = found != number.end();
      if (is_known && cards[found->second].empty()) {
        cards[found->second] = *kinds;
        continue;
      }
      note(entry.place(), is_known ? fmt::format("{} has its card already", in_quotes(name))
                          : by_node
                              ? fmt::format("no node {}: the cluster has {}", in_quotes(name),
                                            places.size() == 1 ? places.front() + " alone"
                                                               : fmt::format("{} to {}", places.front(), places.back()))
                              : fmt::format("{} is no GPU slot of the machine {}, which has {}", in_quotes(name),
                                            in_quotes(machine.id), fmt::join(places, ", ")));
      break;  // of a range that is wrong one name is told
    }
  }
  if (reading_->problems().size() != problems_before) return {};
  std::vector<std::string> bare;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (cards[i].empty()) bare.push_back(places[i]);
  }
  if (bare.empty()) return cards;
  note(value_->place(), fmt::format("no card is named for {}; name one for each {}", first_of(bare),
                                    by_node ? "node" : "GPU slot of the machine"));
  return {};
}

}  // namespace gpuscale

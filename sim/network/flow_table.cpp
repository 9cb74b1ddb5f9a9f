#include "network/flow_table.hpp"

#include <algorithm>
#include <cmath>

#include "network/tight_growth.hpp"
#include "units/check.hpp"

namespace gpuscale {
namespace {

/// Stable. A route's few loads are sorted in place; std's sort would ask for memory each time.
void sort_by_channel(std::vector<ChannelLoad>& loads) {
  constexpr std::size_t kFew = 16;
  if (loads.size() > kFew) {
    std::ranges::stable_sort(loads, std::ranges::less(), &ChannelLoad::channel);
    return;
  }
  for (std::size_t i = 1; i < loads.size(); ++i) {
    const ChannelLoad load = loads[i];
    std::size_t place = i;
    for (; place > 0 && load.channel < loads[place - 1].channel; --place) loads[place] = loads[place - 1];
    loads[place] = load;
  }
}

}  // namespace

FlowTable::FlowTable(std::span<const BytesPerSecond> capacity) : channels_(capacity.size()) {
  for (std::size_t c = 0; c < capacity.size(); ++c) {
    check(capacity[c] > BytesPerSecond() && std::isfinite(capacity[c].count()), "a channel's capacity is positive");
    channels_[c].capacity = capacity[c];
  }
  weights_[weights_.allocate(1)] = 1.0;
}

FlowTable::Slot FlowTable::add(std::span<const ChannelLoad> loads, BytesPerSecond cap) {
  check(cap > BytesPerSecond(), "a flow's cap is positive");
  const Slot slot = take_slot();
  Flow& flow = flows_[slot];
  flow = {.rate = {}, .cap = cap, .load_count = static_cast<std::uint32_t>(loads.size())};
  if (loads.empty()) return slot;
  flow.load_begin = loads_.allocate(flow.load_count);
  for (std::uint32_t i = 0; i < flow.load_count; ++i) {
    const auto index = static_cast<std::uint32_t>(loads[i].channel.index());
    std::vector<Slot>& members = channels_[index].members;
    loads_[flow.load_begin + i] = {index, static_cast<std::uint32_t>(members.size())};
    push_tightly(members, slot);
  }
  store_weights(flow, loads);
  return slot;
}

bool FlowTable::demands(const Flow& flow, std::span<const ChannelLoad> loads, BytesPerSecond cap) const {
  if (flow.cap != cap || flow.load_count != loads.size()) return false;
  const std::span<const Load> own = this->loads(flow);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i].channel != loads[i].channel.index() || weight(flow, i) != loads[i].weight) return false;
  }
  return true;
}

void FlowTable::remove(Slot slot) {
  const Flow& flow = flows_[slot];
  if (flow.load_count > 0) {
    const std::span<const Load> own = loads(flow);
    for (std::size_t i = 0; i < own.size(); ++i) {
      channels_[own[i].channel].load -= weight(flow, i) * flow.rate;
      leave(own[i]);
    }
    if (flow.holder != kNoChannel) --channels_[flow.holder].held;
    release_weights(flow);
    loads_.release(flow.load_begin, flow.load_count);
  }
  free_slots_.push_back(slot);
}

std::span<const ChannelLoad> FlowTable::in_order(std::span<const ChannelLoad> loads) {
  bool rising = true;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    check(loads[i].channel.index() < channels_.size(), "a load names a channel that exists");
    check(loads[i].weight > 0.0 && std::isfinite(loads[i].weight), "a load's weight is positive and finite");
    rising = rising && (i == 0 || loads[i - 1].channel < loads[i].channel);
  }
  if (rising) return loads;
  ordered_.assign(loads.begin(), loads.end());
  sort_by_channel(ordered_);
  std::size_t last = 0;
  for (std::size_t i = 1; i < ordered_.size(); ++i) {
    if (ordered_[i].channel == ordered_[last].channel) {
      ordered_[last].weight += ordered_[i].weight;
    } else {
      ordered_[++last] = ordered_[i];
    }
  }
  ordered_.resize(last + 1);
  return ordered_;
}

FlowTable::Slot FlowTable::take_slot() {
  if (free_slots_.empty()) {
    push_tightly(flows_, {});
    return static_cast<Slot>(flows_.size() - 1);
  }
  const Slot slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void FlowTable::store_weights(Flow& flow, std::span<const ChannelLoad> loads) {
  const double first = loads.front().weight;
  const bool equal = std::ranges::all_of(loads, [&](const ChannelLoad& load) { return load.weight == first; });
  if (equal && first == 1.0) {
    flow.weights = kWeightOne;
  } else if (equal) {
    flow.weights = weights_.allocate(1);
    weights_[flow.weights] = first;
  } else {
    const std::uint32_t begin = weights_.allocate(flow.load_count);
    for (std::uint32_t i = 0; i < flow.load_count; ++i) weights_[begin + i] = loads[i].weight;
    flow.weights = begin | kOwnWeights;
  }
}

void FlowTable::release_weights(const Flow& flow) {
  if (flow.weights == kWeightOne) return;
  const bool own = (flow.weights & kOwnWeights) != 0;
  weights_.release(flow.weights & ~kOwnWeights, own ? flow.load_count : 1);
}

/// Takes a flow off a channel: the channel's last member takes its place.
void FlowTable::leave(const Load& load) {
  Channel& channel = channels_[load.channel];
  const Slot moved = channel.members.back();
  channel.members[load.position] = moved;
  if (load.position + 1 != channel.members.size()) {
    const Flow& other = flows_[moved];
    loads_[other.load_begin + static_cast<std::uint32_t>(load_on(other, load.channel))].position = load.position;
  }
  channel.members.pop_back();
  if (channel.members.empty()) channel.load = {};
}

std::size_t FlowTable::load_on(const Flow& flow, std::uint32_t channel) const {
  const std::span<const Load> own = loads(flow);
  const auto load = own.size() <= 8 ? std::ranges::find(own, channel, &Load::channel)
                                    : std::ranges::lower_bound(own, channel, std::ranges::less(), &Load::channel);
  return static_cast<std::size_t>(load - own.begin());
}

void FlowTable::add_up_load(std::size_t index) {
  Channel& channel = channels_[index];
  channel.load = {};
  for (const Slot slot : channel.members) {
    const Flow& flow = flows_[slot];
    channel.load += weight(flow, load_on(flow, static_cast<std::uint32_t>(index))) * flow.rate;
  }
}

}  // namespace gpuscale

#include "network/flow_table.hpp"

#include <algorithm>
#include <cmath>

#include "network/tight_growth.hpp"
#include "units/check.hpp"

namespace gpuscale {

FlowTable::FlowTable(std::span<const BytesPerSecond> capacity) : channels_(capacity.size()) {
  for (std::size_t c = 0; c < capacity.size(); ++c) {
    check(capacity[c] > BytesPerSecond() && std::isfinite(capacity[c].count()), "a channel's capacity is positive");
    channels_[c].capacity = capacity[c];
  }
  weights_[weights_.allocate(1)] = 1.0;
}

FlowTable::Slot FlowTable::add(std::span<const ChannelLoad> loads, BytesPerSecond cap) {
  check(cap > BytesPerSecond(), "a flow's cap is positive");
  read_loads(loads);
  const Slot slot = take_slot();
  Flow& flow = flows_[slot];
  flow = {.rate = {}, .cap = cap, .load_count = static_cast<std::uint32_t>(incoming_.size())};
  if (incoming_.empty()) return slot;
  flow.load_begin = loads_.allocate(flow.load_count);
  for (std::uint32_t i = 0; i < flow.load_count; ++i) {
    const auto index = static_cast<std::uint32_t>(incoming_[i].channel.index());
    std::vector<Slot>& members = channels_[index].members;
    loads_[flow.load_begin + i] = {index, static_cast<std::uint32_t>(members.size())};
    members.push_back(slot);
  }
  store_weights(flow);
  return slot;
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

/// Fills incoming_: in the order of channels, loads of one channel added up.
void FlowTable::read_loads(std::span<const ChannelLoad> loads) {
  incoming_.assign(loads.begin(), loads.end());
  bool rising = true;
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    check(incoming_[i].channel.index() < channels_.size(), "a load names a channel that exists");
    check(incoming_[i].weight > 0.0 && std::isfinite(incoming_[i].weight), "a load's weight is positive and finite");
    rising = rising && (i == 0 || incoming_[i - 1].channel < incoming_[i].channel);
  }
  if (rising) return;
  std::ranges::stable_sort(incoming_, std::ranges::less(), &ChannelLoad::channel);
  std::size_t last = 0;
  for (std::size_t i = 1; i < incoming_.size(); ++i) {
    if (incoming_[i].channel == incoming_[last].channel) {
      incoming_[last].weight += incoming_[i].weight;
    } else {
      incoming_[++last] = incoming_[i];
    }
  }
  incoming_.resize(last + 1);
}

FlowTable::Slot FlowTable::take_slot() {
  if (free_slots_.empty()) {
    resize_tightly(flows_, flows_.size() + 1);
    return static_cast<Slot>(flows_.size() - 1);
  }
  const Slot slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void FlowTable::store_weights(Flow& flow) {
  const double first = incoming_.front().weight;
  const bool equal = std::ranges::all_of(incoming_, [&](const ChannelLoad& load) { return load.weight == first; });
  if (equal && first == 1.0) {
    flow.weights = kWeightOne;
  } else if (equal) {
    flow.weights = weights_.allocate(1);
    weights_[flow.weights] = first;
  } else {
    const std::uint32_t begin = weights_.allocate(flow.load_count);
    for (std::uint32_t i = 0; i < flow.load_count; ++i) weights_[begin + i] = incoming_[i].weight;
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

#include "network/max_min.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <queue>

#include "units/check.hpp"

namespace gpuscale {
namespace {

/// One progressive filling. Channels wait in a heap by the level at which they would be full; that
/// level only rises as flows stop below it, so an outdated entry is noticed when it comes up.
class Filling {
 public:
  Filling(std::span<const BytesPerSecond> capacity, std::span<const FlowDemand> demands)
      : demands_(demands), channels_(capacity.size()), rates_(demands.size()), stopped_(demands.size(), false) {
    for (std::size_t c = 0; c < capacity.size(); ++c) {
      check(capacity[c] > BytesPerSecond() && std::isfinite(capacity[c].count()), "a channel's capacity is positive");
      channels_[c].left = capacity[c];
    }
    for (std::size_t flow = 0; flow < demands.size(); ++flow) enter(flow);
    for (std::size_t c = 0; c < channels_.size(); ++c) queue(c);
    std::ranges::stable_sort(capped_, std::less<>(), [&](std::size_t flow) { return demands_[flow].cap; });
  }

  std::vector<BytesPerSecond> run() && {
    while (!waiting_.empty()) {
      const Entry entry = waiting_.top();
      waiting_.pop();
      const Channel& channel = channels_[entry.channel];
      if (channel.rising == 0) continue;
      if (channel.level() > entry.level || stop_capped(entry.level)) {
        queue(entry.channel);
      } else {
        for (const std::size_t flow : channel.flows) stop(flow, entry.level);
      }
    }
    stop_capped(kUncapped);
    return std::move(rates_);
  }

 private:
  struct Channel {
    BytesPerSecond left;     // capacity not taken by stopped flows
    double weight = 0.0;     // of the rising flows
    std::size_t rising = 0;  // loads of rising flows
    std::vector<std::size_t> flows;

    [[nodiscard]] BytesPerSecond level() const { return std::max(left, BytesPerSecond()) / weight; }
  };
  struct Entry {
    BytesPerSecond level;
    std::size_t channel;
    auto operator<=>(const Entry&) const = default;
  };

  void enter(std::size_t flow) {
    const FlowDemand& demand = demands_[flow];
    check(demand.cap > BytesPerSecond(), "a flow's cap is positive");
    check(!demand.loads.empty() || demand.cap < kUncapped, "a flow without loads has a cap");
    if (demand.cap < kUncapped) capped_.push_back(flow);
    for (const ChannelLoad& load : demand.loads) {
      check(load.channel.index() < channels_.size(), "a load names a channel that exists");
      check(load.weight > 0.0 && std::isfinite(load.weight), "a load's weight is positive and finite");
      Channel& channel = channels_[load.channel.index()];
      channel.weight += load.weight;
      channel.rising += 1;
      channel.flows.push_back(flow);
    }
  }

  void queue(std::size_t c) {
    if (channels_[c].rising > 0) waiting_.push({channels_[c].level(), c});
  }

  /// Stops the flows whose cap is not above the level; true if there was one.
  bool stop_capped(BytesPerSecond level) {
    bool any = false;
    for (; next_capped_ < capped_.size() && demands_[capped_[next_capped_]].cap <= level; ++next_capped_) {
      any |= stop(capped_[next_capped_], demands_[capped_[next_capped_]].cap);
    }
    return any;
  }

  bool stop(std::size_t flow, BytesPerSecond rate) {
    if (stopped_[flow]) return false;
    stopped_[flow] = true;
    rates_[flow] = rate;
    for (const ChannelLoad& load : demands_[flow].loads) {
      Channel& channel = channels_[load.channel.index()];
      channel.left -= load.weight * rate;
      channel.weight -= load.weight;
      channel.rising -= 1;
    }
    return true;
  }

  std::span<const FlowDemand> demands_;
  std::vector<Channel> channels_;
  std::vector<BytesPerSecond> rates_;
  std::vector<bool> stopped_;
  std::vector<std::size_t> capped_;  // flows with a finite cap, lowest first
  std::size_t next_capped_ = 0;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> waiting_;
};

}  // namespace

std::vector<BytesPerSecond> max_min_rates(std::span<const BytesPerSecond> capacity,
                                          std::span<const FlowDemand> demands) {
  return Filling(capacity, demands).run();
}

}  // namespace gpuscale

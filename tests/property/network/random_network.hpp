#pragma once

/// \file
/// Random networks, random flows on them, and a flow model that is watched while they come and go.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "network/flow_model.hpp"
#include "network/max_min.hpp"
#include "property/dice.hpp"

namespace gpuscale::test {

using Loads = std::vector<ChannelLoad>;

inline constexpr std::uint64_t kCases = 200;
inline constexpr double kNear = 1e-9;

struct Network {
  std::vector<BytesPerSecond> capacity;
  bool weighted = false;
  bool capped = false;
  std::size_t longest = 1;  // loads of a flow
};

inline Network random_network(Dice& dice) {
  Network network;
  const std::size_t channels = 1 + dice.below(40);
  const bool equal = dice.below(3) == 0;  // many ties
  for (std::size_t c = 0; c < channels; ++c) {
    network.capacity.emplace_back(equal ? 1e10 : 1e9 * (1.0 + 99.0 * dice.fraction()));
  }
  network.weighted = dice.below(2) == 0;
  network.capped = dice.below(2) == 0;
  network.longest = 1 + dice.below(6);
  return network;
}

inline FlowDemand random_demand(Dice& dice, const Network& network) {
  FlowDemand demand;
  const std::size_t count = 1 + dice.below(network.longest);
  for (std::size_t i = 0; i < count; ++i) {
    const double weight = network.weighted && dice.below(2) == 0 ? 0.25 + 3.0 * dice.fraction() : 1.0;
    demand.loads.push_back({ChannelId(dice.below(network.capacity.size())), weight});
  }
  if (network.capped && dice.below(3) == 0) demand.cap = BytesPerSecond(1e8 * (1.0 + 99.0 * dice.fraction()));
  return demand;
}

inline std::vector<FlowDemand> random_demands(Dice& dice, const Network& network) {
  std::vector<FlowDemand> demands;
  const std::size_t count = 1 + dice.below(150);
  for (std::size_t i = 0; i < count; ++i) demands.push_back(random_demand(dice, network));
  return demands;
}

inline std::vector<double> channel_loads(const Network& network, const std::vector<FlowDemand>& demands,
                                         const std::vector<BytesPerSecond>& rates) {
  std::vector<double> loads(network.capacity.size(), 0.0);
  for (std::size_t flow = 0; flow < demands.size(); ++flow) {
    for (const ChannelLoad& load : demands[flow].loads) {
      loads[load.channel.index()] += load.weight * rates[flow].count();
    }
  }
  return loads;
}

/// No channel over capacity; every flow at its cap or on a full channel where no flow is faster.
inline bool is_fair(const Network& network, const std::vector<FlowDemand>& demands,
                    const std::vector<BytesPerSecond>& rates) {
  const std::vector<double> loads = channel_loads(network, demands, rates);
  std::vector<double> fastest(loads.size(), 0.0);
  for (std::size_t flow = 0; flow < demands.size(); ++flow) {
    for (const ChannelLoad& load : demands[flow].loads) {
      double& rate = fastest[load.channel.index()];
      rate = std::max(rate, rates[flow].count());
    }
  }
  for (std::size_t c = 0; c < loads.size(); ++c) {
    if (loads[c] > network.capacity[c].count() * (1.0 + kNear)) return false;
  }
  for (std::size_t flow = 0; flow < demands.size(); ++flow) {
    const double rate = rates[flow].count();
    const auto holds = [&](const ChannelLoad& load) {
      const std::size_t c = load.channel.index();
      return loads[c] >= network.capacity[c].count() * (1.0 - kNear) && rate >= fastest[c] * (1.0 - kNear);
    };
    const bool at_cap = std::abs(rate - demands[flow].cap.count()) <= kNear * rate;
    if (rate <= 0.0 || (!at_cap && std::ranges::none_of(demands[flow].loads, holds))) return false;
  }
  return true;
}

inline bool near(const std::vector<BytesPerSecond>& a, const std::vector<BytesPerSecond>& b) {
  return std::ranges::equal(
      a, b, [](BytesPerSecond x, BytesPerSecond y) { return std::abs((x - y).count()) <= kNear * x.count(); });
}

/// A model with its active flows written down beside it.
struct Watched {
  explicit Watched(const Network& watched) : network(watched), model(watched.capacity) {}

  const Network& network;
  FlowModel model;
  std::map<std::uint32_t, std::pair<FlowId, FlowDemand>> active;  // by tag
  std::vector<double> expected_bytes = std::vector<double>(network.capacity.size(), 0.0);
  std::uint32_t next_tag = 0;

  void start(Time now, const FlowDemand& demand, Bytes amount) {
    active.emplace(next_tag, std::pair(model.start(now, demand, amount, next_tag), demand));
    ++next_tag;
    for (const ChannelLoad& load : demand.loads) {
      expected_bytes[load.channel.index()] += load.weight * amount.count();
    }
  }
  void finish(Time now) {
    std::vector<std::uint32_t> tags;
    model.finish(now, tags);
    for (const std::uint32_t tag : tags) active.erase(tag);
  }
  [[nodiscard]] bool equals_full_solve() const {
    std::vector<FlowDemand> demands;
    std::vector<BytesPerSecond> rates;
    for (const auto& [tag, flow] : active) {
      rates.push_back(model.rate(flow.first));
      demands.push_back(flow.second);
    }
    return near(rates, max_min_rates(network.capacity, demands)) && is_fair(network, demands, rates);
  }
  [[nodiscard]] bool carried_equals_sent() const {
    for (std::size_t c = 0; c < expected_bytes.size(); ++c) {
      const double carried = model.carried(ChannelId(c)).count();
      if (std::abs(carried - expected_bytes[c]) > kNear * expected_bytes[c]) return false;
    }
    return true;
  }
};

inline Bytes random_amount(Dice& dice, bool equal) { return equal ? 1_MB : Bytes(1e3 + 1e7 * dice.fraction()); }

/// Starts flows now and then until enough have started, and lets all finish.
/// \returns whether the rates were those of a full solve at every instant.
inline bool live_through(Dice& dice, Watched& watched) {
  const bool equal = dice.below(2) == 0;
  const std::size_t in_one_instant = 1 + dice.below(8);
  Time now;
  bool equals = true;
  std::size_t to_start = 20 + dice.below(120);
  while (to_start > 0 || watched.model.next_completion() != kNever) {
    const bool arrival = to_start > 0 && (watched.model.active() < 40 || dice.below(2) == 0);
    const Time next = watched.model.next_completion();
    if (arrival) {
      const Time later(now.picoseconds() + static_cast<std::int64_t>(dice.below(100'000'000)));
      now = std::min(next, later);
    } else {
      now = next == kNever ? now : next;
    }
    watched.finish(now);
    for (std::size_t i = 0; arrival && i < in_one_instant && to_start > 0; ++i, --to_start) {
      watched.start(now, random_demand(dice, watched.network), random_amount(dice, equal));
    }
    watched.model.settle(now);
    equals = equals && watched.equals_full_solve();
  }
  return equals;
}

}  // namespace gpuscale::test

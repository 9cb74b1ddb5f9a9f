#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "network/block_pool.hpp"
#include "network/max_min.hpp"
#include "units/id.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// Who loads what: the active flows, the channels, and both directions between them. Flows are
/// slots that are used again. Rates live here too, but who sets them is RateSolver; this class knows
/// no fairness and no clock. About 110 bytes for a flow of six loads of equal weight.
class FlowTable {
 public:
  using Slot = std::uint32_t;

  /// The holder of a flow that goes at its cap, or has no rate yet.
  static constexpr std::uint32_t kNoChannel = std::numeric_limits<std::uint32_t>::max();

  struct Flow {
    BytesPerSecond rate;
    BytesPerSecond cap;
    std::uint32_t holder = kNoChannel;  ///< the full channel on which no flow is faster
    std::uint32_t load_begin = 0;
    std::uint32_t load_count = 0;
    std::uint32_t weights = 0;  ///< see weight()
  };

  struct Load {
    std::uint32_t channel;
    std::uint32_t position;  ///< of the flow among the channel's members
  };

  struct Channel {
    BytesPerSecond capacity;
    BytesPerSecond load;        ///< sum of weight * rate over its members
    BytesPerSecond level;       ///< rate of the flows it holds; meaningless if held is 0
    std::uint32_t held = 0;     ///< how many flows have it as holder
    std::uint32_t updates = 0;  ///< of the load, by RateSolver
    std::vector<Slot> members;  ///< the flows on it, each once
  };

  /// \pre capacities are positive and finite.
  explicit FlowTable(std::span<const BytesPerSecond> capacity);

  /// Loads as this class wants them: in the order of channels, those of one channel added up. Valid as
  /// long as `loads` and until the next call. \pre as for FlowDemand.
  [[nodiscard]] std::span<const ChannelLoad> in_order(std::span<const ChannelLoad> loads);

  /// Adds a flow with rate 0. \pre loads are as from in_order(); no loads and no cap are fine.
  Slot add(std::span<const ChannelLoad> loads, BytesPerSecond cap);

  /// True if a flow has this cap and these loads. \pre loads are as from in_order().
  [[nodiscard]] bool demands(const Flow& flow, std::span<const ChannelLoad> loads, BytesPerSecond cap) const;

  /// Removes a flow; its slot will be used again.
  void remove(Slot slot);

  /// Sets a channel's load to the sum over its members, without the rounding of many updates.
  void add_up_load(std::size_t index);

  [[nodiscard]] Flow& flow(Slot slot) { return flows_[slot]; }
  [[nodiscard]] const Flow& flow(Slot slot) const { return flows_[slot]; }
  [[nodiscard]] Channel& channel(std::size_t index) { return channels_[index]; }
  [[nodiscard]] const Channel& channel(std::size_t index) const { return channels_[index]; }
  [[nodiscard]] std::size_t channel_count() const { return channels_.size(); }
  /// Number of slots ever used; every slot is below it.
  [[nodiscard]] std::size_t slot_count() const { return flows_.size(); }

  /// The loads of a flow, by rising channel. Valid until the next add().
  [[nodiscard]] std::span<const Load> loads(const Flow& flow) const {
    return flow.load_count == 0 ? std::span<const Load>() : std::span(&loads_[flow.load_begin], flow.load_count);
  }
  /// Which of the flow's loads is the one on a channel. \pre there is one.
  [[nodiscard]] std::size_t load_on(const Flow& flow, std::uint32_t channel) const;
  /// The weight of the flow's load number `index`.
  [[nodiscard]] double weight(const Flow& flow, std::size_t index) const {
    const std::size_t step = flow.weights >> 31;  // the top bit says that each load has a weight of its own
    return weights_[(flow.weights & ~kOwnWeights) + static_cast<std::uint32_t>(step * index)];
  }

 private:
  static constexpr std::uint32_t kOwnWeights = std::uint32_t{1} << 31;
  static constexpr std::uint32_t kWeightOne = 0;  // place in weights_ that all flows of weight 1 share

  Slot take_slot();
  void store_weights(Flow& flow, std::span<const ChannelLoad> loads);
  void release_weights(const Flow& flow);
  void leave(const Load& load);

  std::vector<Flow> flows_;
  std::vector<Slot> free_slots_;
  std::vector<Channel> channels_;
  BlockPool<Load> loads_;
  BlockPool<double> weights_;
  std::vector<ChannelLoad> ordered_;  // for in_order()
};

}  // namespace gpuscale

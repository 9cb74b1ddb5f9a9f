#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "network/completion_heap.hpp"
#include "network/flow_table.hpp"
#include "network/max_min.hpp"
#include "network/rate_solver.hpp"
#include "units/id.hpp"
#include "units/quantity.hpp"
#include "units/time.hpp"

namespace gpuscale {

/// An active flow of a FlowModel. Valid until finish() has returned the flow's tag.
using FlowId = Id<struct FlowTag>;

/// Flows that share channels over time, max-min fair at every instant. The clock is the caller's:
/// it hands in each instant, in order, and comes back at next_completion().
///
///     FlowModel flows(capacities);
///     flows.start(now, loads, 64_MiB, tag);        // any number, any order
///     flows.settle(now);                           // once at the end of the instant
///     now = flows.next_completion();
///     flows.finish(now, tags);                     // the flows complete at now; start more, settle again
///
/// A flow that starts in the instant in which another of the same loads and cap ends takes its place and its
/// rate: what all flows demand is then as before, so every rate stays fair. Lock-step patterns, whose next step
/// goes the way of the one before, are not solved again.
///
/// Rates hold from settle() to the next settle(). Latency is not in here: start a flow later.
/// Memory: about 194 bytes per active flow of six loads of equal weight while all flows are solved at once (measured,
/// idle capacity of vectors included), and some 16 fewer after a smaller solve; 8 more a load if the weights differ.
class FlowModel {
 public:
  /// \pre capacities, by channel id, are positive and finite.
  explicit FlowModel(std::span<const BytesPerSecond> capacity);
  FlowModel(const FlowModel&) = delete;
  FlowModel& operator=(const FlowModel&) = delete;

  /// Starts a flow of `amount` bytes; at rate r it loads each channel with weight * r. A flow of zero
  /// bytes is complete at `now`. \param tag what finish() will return; need not be unique.
  /// \pre amount is finite and not negative; loads and cap as for FlowDemand; now does not go back.
  FlowId start(Time now, std::span<const ChannelLoad> loads, Bytes amount, std::uint32_t tag,
               BytesPerSecond cap = kUncapped);
  FlowId start(Time now, const FlowDemand& demand, Bytes amount, std::uint32_t tag) {
    return start(now, demand.loads, amount, tag, demand.cap);
  }

  /// Makes the rates fair after everything that started and finished; a second call without either
  /// does nothing. Until then others keep the rate they had, and a new flow has rate 0 or that of the flow whose
  /// place it took.
  void settle(Time now);

  /// The earliest instant at which an active flow is complete, or kNever. A completion is the start
  /// of the rate plus remaining bytes / rate, rounded up to a picosecond. \pre settled.
  [[nodiscard]] Time next_completion() const { return completions_.next(); }

  /// Removes the flows complete at `now` and puts their tags into `tags` (replacing what it holds),
  /// in the order in which they started. \pre no completion before `now` was left out.
  void finish(Time now, std::vector<std::uint32_t>& tags);

  /// Ends a flow before it is complete; rates are fair again after the next settle(). \pre settled, and no completion
  /// before `now` was left out. \returns the bytes that are left
  Bytes stop(Time now, FlowId flow);

  /// Flows whose rate the last settle() changed, those that started among them. Valid until the next.
  [[nodiscard]] std::span<const RateSolver::Member> changed() const { return changed_; }

  /// Whether a channel would hold a flow of this rate that joins those on it: it is full, and none of them is faster.
  /// \pre settled
  [[nodiscard]] bool holds(ChannelId channel, BytesPerSecond rate) const;

  /// Whether a flow shares some channel with one whose tag is as `wanted` says.
  template <class Wanted>
  [[nodiscard]] bool meets(FlowId flow, Wanted&& wanted) const {
    return std::ranges::any_of(table_.loads(table_.flow(slot_of(flow))), [&](const FlowTable::Load& load) {
      return std::ranges::any_of(table_.channel(load.channel).members,
                                 [&](FlowTable::Slot slot) { return wanted(progress_[slot].tag); });
    });
  }

  /// What the caller gave it.
  [[nodiscard]] std::uint32_t tag(FlowId flow) const { return progress_[slot_of(flow)].tag; }

  /// Number of flows that are not finished.
  [[nodiscard]] std::size_t active() const { return completions_.size() + unsettled_; }

  /// The rate an active flow has had since the last settle().
  [[nodiscard]] BytesPerSecond rate(FlowId flow) const { return table_.flow(slot_of(flow)).rate; }

  /// Bytes that went over a channel so far, weights counted, up to the last instant handed in. A sum
  /// over the channel's flows: for reports.
  [[nodiscard]] Bytes carried(ChannelId channel) const;

  /// Time during which at least one flow was on a channel, up to the last instant handed in.
  [[nodiscard]] Seconds busy_time(ChannelId channel) const;

  /// Share of the channel's capacity that was used from time 0 to the last instant handed in: 0 to 1.
  [[nodiscard]] double busy_share(ChannelId channel) const;

 private:
  struct Progress {        // of one flow
    Bytes remaining;       // at `since`
    Time since;            // when its rate last changed
    std::uint32_t number;  // flows started before it
    std::uint32_t tag;
  };
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Usage {            // of one channel
    Bytes sent;             // over it, by all flows that started, whole
    Time busy_since;        // while it has flows
    std::int64_t busy = 0;  // picoseconds, when it last became idle
    /// The flow that ended last in this instant of those whose first channel this is.
    std::uint32_t vacant = kNone;
  };

  static std::uint32_t slot_of(FlowId flow) { return static_cast<std::uint32_t>(flow.index()); }
  void advance(Time now);
  std::uint32_t take_over(std::span<const ChannelLoad> loads, BytesPerSecond cap);
  void vacate(std::uint32_t slot);
  void remove_vacant();
  void remove(std::uint32_t slot);
  [[nodiscard]] Bytes remaining(std::uint32_t slot, BytesPerSecond rate) const;

  FlowTable table_;
  RateSolver solver_;
  CompletionHeap completions_;
  std::vector<Progress> progress_;      // by slot
  std::vector<Usage> usage_;            // by channel
  std::vector<std::uint32_t> started_;  // flows without a rate yet
  std::vector<std::uint32_t> left_;     // channels that flows left since the last settle()
  std::vector<std::uint32_t> vacant_;   // channels whose `vacant` may be set
  std::vector<std::uint32_t> done_;
  std::span<const RateSolver::Member> changed_;
  std::size_t unsettled_ = 0;  // flows neither settled nor complete
  std::uint32_t started_count_ = 0;
  Time now_;
};

}  // namespace gpuscale

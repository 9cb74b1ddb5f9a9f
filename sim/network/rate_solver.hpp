#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "network/flow_table.hpp"
#include "network/level_heap.hpp"
#include "network/level_queue.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// Keeps the rates of a flow table max-min fair while flows come and go, touching only flows whose
/// rates can change.
///
/// It is one progressive filling in which flows take part only once they have to. Let the level, the
/// rate of all flows that still rise, go up from zero. Flows that started rise from the beginning;
/// all others stand still at the rate they had, until the level shows that they cannot keep it:
///   - a channel is full at a level below the rate of a flow that stands still: that flow must give
///     way, so it joins those that rise;
///   - the level comes to the rate of flows that a channel holds, and the channel is not full: those
///     flows can go faster, so they join.
/// A flow joins at a level not above its old rate, and no channel that stopped flows below this level
/// has it as a member (it would have joined there). So joining late is the same as rising from
/// zero, and the result is that of filling all flows anew: exact, up to rounding. Rates closer than
/// 1e-11 are taken as equal.
class RateSolver {
 public:
  using Slot = FlowTable::Slot;
  static constexpr BytesPerSecond kRising{-1.0};

  /// A flow that took part in a filling.
  struct Member {
    Slot flow;
    std::uint32_t holder = FlowTable::kNoChannel;
    BytesPerSecond rate = kRising;  ///< as a result of resolve(): the rate it had before
    [[nodiscard]] bool stopped() const { return rate != kRising; }
  };

  /// \pre the table outlives the solver, and only the solver sets its rates.
  explicit RateSolver(FlowTable& table) : table_(table), channels_(table.channel_count()) {}

  /// Makes all rates fair again. `started` are the flows added since the last call, `left` the
  /// channels that flows were removed from (repetitions allowed). Returns the flows whose rate
  /// changed, with the rate they had (the new one is in the table), in an order that depends on the
  /// history of calls only; valid until the next call.
  std::span<const Member> resolve(std::span<const Slot> started, std::span<const std::uint32_t> left);

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Channel {                      // what the filling knows of a channel
    BytesPerSecond left{};              // capacity that neither standing nor stopped flows take
    double weight = 0.0;                // of rising flows
    BytesPerSecond key{};               // rate of its valid entry in the queue
    BytesPerSecond watch{};             // rate of the standing flows it holds, if the level is not there yet
    BytesPerSecond fastest_standing{};  // no standing flow on it is faster
    std::uint32_t rising = 0;
    std::uint32_t members = 0;
    std::uint32_t flows = 0;  // on it: members and those that stand still
    std::uint32_t round = 0;  // the last resolve() that touched it

    /// The level at which its capacity is used up. \pre rising > 0.
    [[nodiscard]] BytesPerSecond full_level() const { return std::max(left, BytesPerSecond()) / weight; }
    /// The level at which something happens: it is full, or comes to the flows it holds.
    [[nodiscard]] BytesPerSecond next_level() const { return rising > 0 ? std::min(watch, full_level()) : watch; }
  };

  void touch(std::uint32_t index);
  void join(Slot slot);
  void join_held(std::uint32_t index);
  bool join_faster(std::uint32_t index);
  void fill_by_passes();
  void fill_by_queue();
  bool bring_up_to_date(LevelQueue::Entry& entry);
  void enqueue(std::uint32_t index);
  void reach(std::uint32_t index, BytesPerSecond level);
  bool stop_capped(BytesPerSecond level);
  void stop(std::uint32_t member, BytesPerSecond rate, std::uint32_t holder);
  void apply();
  void release_memory();

  FlowTable& table_;
  std::vector<Channel> channels_;
  std::vector<Member> members_;
  std::vector<std::uint32_t> member_of_;  // by slot; kNone: stands still
  std::vector<std::uint32_t> touched_;    // channels
  std::vector<std::uint32_t> open_;       // touched channels that may still have something to do
  LevelQueue waiting_;                    // channels, by their next level or less
  LevelHeap capped_;                      // members with a finite cap, by cap
  std::vector<Slot> faster_;
  bool by_queue_ = false;
  std::size_t rising_ = 0;   // members that are not stopped
  std::size_t watched_ = 0;  // channels
  std::uint32_t round_ = 0;
};

}  // namespace gpuscale

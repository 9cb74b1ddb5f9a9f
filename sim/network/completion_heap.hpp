#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "units/time.hpp"

namespace gpuscale {

/// An instant that does not come.
inline constexpr Time kNever{std::numeric_limits<std::int64_t>::max()};

/// When each active flow will be complete, and which is next: a 4-ary heap indexed by flow. Made for
/// times that change often and for many flows complete in one instant. A flow that got later keeps
/// its place until it comes to the top, so only getting earlier costs a move at once.
class CompletionHeap {
 public:
  /// Sets the instant of a flow, which is inserted if it is new.
  void set(std::uint32_t flow, Time due);

  /// The earliest instant, or kNever. \pre refresh() was called since the last set().
  [[nodiscard]] Time next() const { return keys_.empty() ? kNever : keys_.front(); }

  /// Makes room for just so many more flows, all below a number, if they are many.
  void expect(std::size_t flows, std::size_t below);

  /// Makes next() exact.
  void refresh();

  /// Removes the flows due at `now` or before and puts them into `flows` (replacing what it holds),
  /// in no particular order. Calls refresh().
  void take_due(Time now, std::vector<std::uint32_t>& flows);

  /// Removes a flow that is in the heap, whenever it is due. refresh() has to follow.
  void erase(std::uint32_t flow);

  /// Number of flows in the heap.
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  struct Entry {
    Time key;  // not after the flow's due time
    std::uint32_t flow = 0;
  };
  static constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t kArity = 4;

  void place(std::size_t position, Entry entry);
  void sift_up(std::size_t position, Entry entry);
  void sift_down(std::size_t position, Entry entry);
  void remove(std::size_t position);
  void rebuild_without_absent();

  [[nodiscard]] Entry entry(std::size_t position) const { return {keys_[position], flows_[position]}; }

  std::vector<Time> keys_;               // by position
  std::vector<std::uint32_t> flows_;     // by position; apart from the keys, as an entry of both would have a hole
  std::vector<Time> due_;                // by flow
  std::vector<std::uint32_t> position_;  // by flow; kAbsent: not in the heap
  std::vector<std::uint32_t> visit_;
};

}  // namespace gpuscale

#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "units/check.hpp"
#include "units/time.hpp"

namespace gpuscale {

/// Pending events in the order (time, order of pushing). A record is plain data that says what
/// happens; what it means is the model's business (run.hpp). Time only moves forward: a record may
/// be pushed for now() or later, never earlier. Pushing and popping cost a few moves of the record
/// each, whatever the number of pending events: the queue is a monotone radix heap.
///
///     EventQueue<Wake> queue;
///     queue.push(Time(2'000), Wake{.task = 7});
///     const Time instant = queue.next_time();
///     const Wake wake = queue.pop();
template <class Record>
class EventQueue {
  static_assert(std::is_trivially_copyable_v<Record>, "records are moved between buckets as plain data");

 public:
  /// Adds a record. \pre time is not before now().
  void push(Time time, const Record& record) {
    check(time >= now_, "an event must not be pushed before the current time");
    add_to_bucket(time, record);
    ++size_;
  }

  /// True if no record is pending.
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Number of pending records.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The instant of the last popped record; 0 before the first.
  [[nodiscard]] Time now() const { return now_; }
  /// True if a record is pending for now() itself. False before the first pop.
  [[nodiscard]] bool has_record_now() const { return popped_ < buckets_[0].events.size(); }

  /// The instant of the next record. \pre not empty.
  [[nodiscard]] Time next_time() const {
    check(!empty(), "an empty event queue has no next time");
    return has_record_now() ? now_ : first_later_bucket().earliest;
  }

  /// Removes and returns the next record, and moves now() to its instant. \pre not empty.
  Record pop() {
    check(!empty(), "an empty event queue has no next record");
    if (!has_record_now()) advance();
    --size_;
    return buckets_[0].events[popped_++].record;
  }

  /// Removes all records of the next instant, moves now() there and puts the records into `records`
  /// (replacing what it holds) in the order of pushing. \pre not empty.
  void pop_instant(std::vector<Record>& records) {
    records.clear();
    records.push_back(pop());
    while (has_record_now()) records.push_back(pop());
  }

 private:
  struct Event {
    Time time;
    Record record;
  };
  struct Bucket {
    std::vector<Event> events;
    Time earliest;
  };

  // Bucket 0 holds the records of now(); bucket b > 0 holds those whose time first differs from
  // now() in bit b - 1, counted from the lowest. Times are not negative, so 64 buckets are enough.
  //
  // Why equal times stay in the order of pushing: the bucket is a function of (time, now()), so all
  // records of one time are in one bucket. push() appends. advance() empties the first non-empty
  // bucket b from its front and appends to lower buckets, all of which are empty then; the buckets
  // above b need no move, as the new now() lies in the range of b and so agrees with the old one in
  // every bit that decides about them. Appending and moving front to back both keep the order.
  static std::size_t bucket_of(Time time, Time now) {
    const auto difference = static_cast<std::uint64_t>(time.picoseconds() ^ now.picoseconds());
    return static_cast<std::size_t>(std::bit_width(difference));
  }

  void add_to_bucket(Time time, const Record& record) {
    const std::size_t index = bucket_of(time, now_);
    Bucket& bucket = buckets_[index];
    if (bucket.events.empty() || time < bucket.earliest) bucket.earliest = time;
    bucket.events.push_back({time, record});
    filled_ |= std::uint64_t{1} << index;
  }

  [[nodiscard]] const Bucket& first_later_bucket() const {
    return buckets_[static_cast<std::size_t>(std::countr_zero(filled_ & ~std::uint64_t{1}))];
  }

  /// Moves now() to the next instant that has a record and brings its records into bucket 0.
  void advance() {
    buckets_[0].events.clear();
    popped_ = 0;
    filled_ &= ~std::uint64_t{1};
    Bucket& next = buckets_[static_cast<std::size_t>(std::countr_zero(filled_))];
    filled_ &= filled_ - 1;
    now_ = next.earliest;
    for (const Event& event : next.events) add_to_bucket(event.time, event.record);
    next.events.clear();
  }

  std::array<Bucket, 64> buckets_;
  std::uint64_t filled_ = 0;  // bit b: bucket b has events
  std::size_t popped_ = 0;    // records of bucket 0 that are gone already
  std::size_t size_ = 0;
  Time now_;
};

}  // namespace gpuscale

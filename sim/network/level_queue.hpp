#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "units/quantity.hpp"

namespace gpuscale {

/// Numbers by a rate each, lowest first, for a level that only rises: a monotone radix heap over the
/// bits of the rates, which for rates that are not negative are in the order of the rates. Most
/// entries are outdated before they come up, so each is brought up to date whenever it is moved.
class LevelQueue {
 public:
  struct Entry {
    BytesPerSecond level;
    std::uint32_t number;
  };

  /// Empties the queue and sets the level.
  void clear(BytesPerSecond level = {}) {
    for (; filled_ != 0; filled_ &= filled_ - 1) buckets_[lowest_bucket()].clear();
    level_ = level;
    popped_ = 0;
  }

  /// Adds a number; a rate below the level counts as the level. \returns the rate it has in the queue.
  BytesPerSecond push(BytesPerSecond level, std::uint32_t number) {
    level = std::max(level, level_);
    put({level, number});
    return level;
  }

  /// Brings the lowest entry to the top and the level to its rate; false if there is none.
  /// `update(entry)` may raise an entry's rate; if it returns false, the entry is dropped.
  template <class Update>
  bool advance(Update&& update) {
    while (popped_ == buckets_[0].size()) {
      buckets_[0].clear();
      popped_ = 0;
      filled_ &= ~std::uint64_t{1};
      if (filled_ == 0) return false;
      spread(lowest_bucket(), update);
    }
    return true;
  }

  /// \pre advance() returned true, and nothing was popped since.
  [[nodiscard]] const Entry& top() const { return buckets_[0][popped_]; }
  void pop() { ++popped_; }

 private:
  // As in EventQueue: bucket 0 is the level itself, bucket b > 0 differs first in bit b - 1.
  [[nodiscard]] std::size_t bucket_of(BytesPerSecond level) const {
    const auto difference = std::bit_cast<std::uint64_t>(level.count()) ^ std::bit_cast<std::uint64_t>(level_.count());
    return static_cast<std::size_t>(std::bit_width(difference));
  }
  [[nodiscard]] std::size_t lowest_bucket() const { return static_cast<std::size_t>(std::countr_zero(filled_)); }

  /// \pre the entry's rate is not below the level.
  void put(const Entry& entry) {
    const std::size_t bucket = bucket_of(entry.level);
    buckets_[bucket].push_back(entry);
    filled_ |= std::uint64_t{1} << bucket;
  }

  /// Spreads the lowest bucket over those below it; what an update raised may go to one above it.
  template <class Update>
  void spread(std::size_t bucket, Update& update) {
    moving_.clear();
    std::swap(moving_, buckets_[bucket]);
    filled_ &= filled_ - 1;
    std::size_t kept = 0;
    BytesPerSecond least{std::numeric_limits<double>::infinity()};
    for (Entry entry : moving_) {
      if (!update(entry)) continue;
      moving_[kept++] = entry;
      least = std::min(least, entry.level);
    }
    if (kept == 0) return;
    if (bucket_of(least) <= bucket) level_ = least;  // else a higher bucket may hold a lower rate
    for (std::size_t i = 0; i < kept; ++i) put(moving_[i]);
  }

  std::array<std::vector<Entry>, 64> buckets_;
  std::vector<Entry> moving_;
  std::uint64_t filled_ = 0;  // bit b: bucket b has entries
  std::size_t popped_ = 0;    // entries of bucket 0 that are gone already
  BytesPerSecond level_;
};

}  // namespace gpuscale

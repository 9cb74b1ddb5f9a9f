#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "units/quantity.hpp"

namespace gpuscale {

/// Numbers by a rate each, lowest first: a 4-ary heap.
class LevelHeap {
 public:
  struct Entry {
    BytesPerSecond level;
    std::uint32_t number;
  };

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] const Entry& top() const { return entries_.front(); }
  void clear() { entries_.clear(); }

  void push(Entry entry) {
    entries_.push_back(entry);
    std::size_t position = entries_.size() - 1;
    while (position > 0) {
      const std::size_t parent = (position - 1) / kArity;
      if (entries_[parent].level <= entry.level) break;
      entries_[position] = entries_[parent];
      position = parent;
    }
    entries_[position] = entry;
  }

  void pop() {
    const Entry last = entries_.back();
    entries_.pop_back();
    if (!entries_.empty()) replace_top(last);
  }

 private:
  static constexpr std::size_t kArity = 4;

  void replace_top(Entry entry) {
    std::size_t position = 0;
    for (std::size_t first = 1; first < entries_.size(); first = position * kArity + 1) {
      const std::size_t least = least_of(first);
      if (entry.level <= entries_[least].level) break;
      entries_[position] = entries_[least];
      position = least;
    }
    entries_[position] = entry;
  }

  /// The lowest of the siblings that begin at `first`.
  [[nodiscard]] std::size_t least_of(std::size_t first) const {
    const Entry* const siblings = &entries_[first];
    if (first + kArity <= entries_.size()) {
      const std::size_t left = siblings[1].level < siblings[0].level ? 1 : 0;
      const std::size_t right = siblings[3].level < siblings[2].level ? 3 : 2;
      return first + (siblings[right].level < siblings[left].level ? right : left);
    }
    std::size_t least = 0;
    for (std::size_t i = 1; first + i < entries_.size(); ++i) {
      if (siblings[i].level < siblings[least].level) least = i;
    }
    return first + least;
  }

  std::vector<Entry> entries_;
};

}  // namespace gpuscale

#include "network/completion_heap.hpp"

#include <algorithm>

#include "network/tight_growth.hpp"

namespace gpuscale {

void CompletionHeap::set(std::uint32_t flow, Time due) {
  if (flow >= due_.size()) {
    resize_tightly(due_, flow + 1, kNever);
    resize_tightly(position_, flow + 1, kAbsent);
  }
  due_[flow] = due;
  if (position_[flow] == kAbsent) {
    push_tightly(keys_, {});
    push_tightly(flows_, {});
    sift_up(keys_.size() - 1, {due, flow});
  } else if (due < keys_[position_[flow]]) {
    sift_up(position_[flow], {due, flow});
  }
}

void CompletionHeap::expect(std::size_t flows, std::size_t below) {
  if (flows < keys_.size() / 4) return;  // few grow as they come
  keys_.reserve(keys_.size() + flows);
  flows_.reserve(flows_.size() + flows);
  due_.reserve(below);
  position_.reserve(below);
}

void CompletionHeap::refresh() {
  while (!keys_.empty()) {
    const Entry top = entry(0);
    const Time due = due_[top.flow];
    if (due == top.key) return;
    sift_down(0, {due, top.flow});
  }
}

void CompletionHeap::take_due(Time now, std::vector<std::uint32_t>& flows) {
  flows.clear();
  visit_.clear();
  if (next() <= now) visit_.push_back(0);
  for (std::size_t i = 0; i < visit_.size(); ++i) {
    const std::size_t position = visit_[i];
    if (due_[flows_[position]] <= now) flows.push_back(flows_[position]);
    const std::size_t end = std::min(position * kArity + kArity + 1, keys_.size());
    for (std::size_t child = position * kArity + 1; child < end; ++child) {
      if (keys_[child] <= now) visit_.push_back(static_cast<std::uint32_t>(child));
    }
  }
  if (flows.size() * 8 < keys_.size()) {
    for (const std::uint32_t flow : flows) {
      remove(position_[flow]);
      position_[flow] = kAbsent;
    }
  } else if (!flows.empty()) {
    for (const std::uint32_t flow : flows) position_[flow] = kAbsent;
    rebuild_without_absent();
  }
  refresh();
}

void CompletionHeap::erase(std::uint32_t flow) {
  remove(position_[flow]);
  position_[flow] = kAbsent;
}

void CompletionHeap::place(std::size_t position, Entry entry) {
  keys_[position] = entry.key;
  flows_[position] = entry.flow;
  position_[entry.flow] = static_cast<std::uint32_t>(position);
}

void CompletionHeap::sift_up(std::size_t position, Entry entry) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / kArity;
    if (keys_[parent] <= entry.key) break;
    place(position, this->entry(parent));
    position = parent;
  }
  place(position, entry);
}

void CompletionHeap::sift_down(std::size_t position, Entry entry) {
  for (;;) {
    const std::size_t first = position * kArity + 1;
    if (first >= keys_.size()) break;
    const std::size_t end = std::min(first + kArity, keys_.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (keys_[child] < keys_[least]) least = child;
    }
    if (entry.key <= keys_[least]) break;
    place(position, this->entry(least));
    position = least;
  }
  place(position, entry);
}

// inline: every flow that ends comes this way, those that are stopped seldom.
inline void CompletionHeap::remove(std::size_t position) {
  const Entry last = entry(keys_.size() - 1);
  keys_.pop_back();
  flows_.pop_back();
  if (position == keys_.size()) return;
  if (position > 0 && last.key < keys_[(position - 1) / kArity]) {
    sift_up(position, last);
  } else {
    sift_down(position, last);
  }
}

/// One pass over all entries: cheaper than removing one by one when many go together.
void CompletionHeap::rebuild_without_absent() {
  std::size_t kept = 0;
  for (const std::uint32_t flow : flows_) {
    if (position_[flow] != kAbsent) place(kept++, {due_[flow], flow});
  }
  keys_.resize(kept);
  flows_.resize(kept);
  for (std::size_t position = kept / kArity + 1; position-- > 0;) {
    if (position < kept) sift_down(position, entry(position));
  }
}

}  // namespace gpuscale

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
    resize_tightly(entries_, entries_.size() + 1);
    sift_up(entries_.size() - 1, {due, flow});
  } else if (due < entries_[position_[flow]].key) {
    sift_up(position_[flow], {due, flow});
  }
}

void CompletionHeap::refresh() {
  while (!entries_.empty()) {
    const Entry top = entries_.front();
    const Time due = due_[top.flow];
    if (due == top.key) return;
    sift_down(0, {due, top.flow});
  }
}

void CompletionHeap::take_due(Time now, std::vector<std::uint32_t>& flows) {
  flows.clear();
  visit_.clear();
  if (!entries_.empty() && entries_.front().key <= now) visit_.push_back(0);
  for (std::size_t i = 0; i < visit_.size(); ++i) {
    const std::size_t position = visit_[i];
    if (due_[entries_[position].flow] <= now) flows.push_back(entries_[position].flow);
    const std::size_t end = std::min(position * kArity + kArity + 1, entries_.size());
    for (std::size_t child = position * kArity + 1; child < end; ++child) {
      if (entries_[child].key <= now) visit_.push_back(static_cast<std::uint32_t>(child));
    }
  }
  if (flows.size() * 8 < entries_.size()) {
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

void CompletionHeap::place(std::size_t position, Entry entry) {
  entries_[position] = entry;
  position_[entry.flow] = static_cast<std::uint32_t>(position);
}

void CompletionHeap::sift_up(std::size_t position, Entry entry) {
  while (position > 0) {
    const std::size_t parent = (position - 1) / kArity;
    if (entries_[parent].key <= entry.key) break;
    place(position, entries_[parent]);
    position = parent;
  }
  place(position, entry);
}

void CompletionHeap::sift_down(std::size_t position, Entry entry) {
  for (;;) {
    const std::size_t first = position * kArity + 1;
    if (first >= entries_.size()) break;
    const std::size_t end = std::min(first + kArity, entries_.size());
    std::size_t least = first;
    for (std::size_t child = first + 1; child < end; ++child) {
      if (entries_[child].key < entries_[least].key) least = child;
    }
    if (entry.key <= entries_[least].key) break;
    place(position, entries_[least]);
    position = least;
  }
  place(position, entry);
}

void CompletionHeap::remove(std::size_t position) {
  const Entry last = entries_.back();
  entries_.pop_back();
  if (position == entries_.size()) return;
  if (position > 0 && last.key < entries_[(position - 1) / kArity].key) {
    sift_up(position, last);
  } else {
    sift_down(position, last);
  }
}

/// One pass over all entries: cheaper than removing one by one when many go together.
void CompletionHeap::rebuild_without_absent() {
  std::size_t kept = 0;
  for (const Entry& entry : entries_) {
    if (position_[entry.flow] == kAbsent) continue;
    place(kept++, {due_[entry.flow], entry.flow});
  }
  entries_.resize(kept);
  for (std::size_t position = kept / kArity + 1; position-- > 0;) {
    if (position < kept) sift_down(position, entries_[position]);
  }
}

}  // namespace gpuscale

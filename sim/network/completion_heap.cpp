#include "network/completion_heap.hpp"

#include <algorithm>

namespace gpuscale {

void CompletionHeap::set(std::uint32_t flow, Time due) {
  if (flow >= slots_.size()) slots_.resize(flow + 1);
  Slot& slot = slots_[flow];
  slot.due = due;
  if (slot.position == kAbsent) {
    entries_.push_back({due, flow});
    sift_up(entries_.size() - 1, {due, flow});
  } else if (due < entries_[slot.position].key) {
    sift_up(slot.position, {due, flow});
  }
}

void CompletionHeap::refresh() {
  while (!entries_.empty()) {
    const Entry top = entries_.front();
    const Time due = slots_[top.flow].due;
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
    Slot& slot = slots_[entries_[position].flow];
    if (slot.due <= now) flows.push_back(entries_[position].flow);
    const std::size_t end = std::min(position * kArity + kArity + 1, entries_.size());
    for (std::size_t child = position * kArity + 1; child < end; ++child) {
      if (entries_[child].key <= now) visit_.push_back(static_cast<std::uint32_t>(child));
    }
  }
  if (flows.size() * 8 < entries_.size()) {
    for (const std::uint32_t flow : flows) {
      remove(slots_[flow].position);
      slots_[flow].position = kAbsent;
    }
  } else if (!flows.empty()) {
    for (const std::uint32_t flow : flows) slots_[flow].position = kAbsent;
    rebuild_without_absent();
  }
  refresh();
}

void CompletionHeap::place(std::size_t position, Entry entry) {
  entries_[position] = entry;
  slots_[entry.flow].position = static_cast<std::uint32_t>(position);
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
    if (slots_[entry.flow].position == kAbsent) continue;
    place(kept++, {slots_[entry.flow].due, entry.flow});
  }
  entries_.resize(kept);
  for (std::size_t position = kept / kArity + 1; position-- > 0;) {
    if (position < kept) sift_down(position, entries_[position]);
  }
}

}  // namespace gpuscale

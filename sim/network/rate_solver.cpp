#include "network/rate_solver.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "network/tight_growth.hpp"

namespace gpuscale {
namespace {

constexpr double kSame = 1e-12;                  // a rate that moves less is rounding, and stays as it was
constexpr double kAbove = 1.0 + 1e-11;           // what is not above this factor is taken as equal
constexpr std::size_t kTieShare = 8;             // passes go on while one open channel in 8 is at the least level
constexpr std::uint32_t kUpdatesOfLoad = 65536;  // after so many, a channel's load is added up anew

}  // namespace

std::span<const RateSolver::Member> RateSolver::resolve(std::span<const Slot> started,
                                                        std::span<const std::uint32_t> left) {
  ++round_;
  if (table_.slot_count() > member_of_.size()) resize_tightly(member_of_, table_.slot_count(), kNone);
  release_memory();
  members_.clear();
  touched_.clear();
  open_.clear();
  capped_.clear();
  by_queue_ = false;
  members_.reserve(started.size());
  for (const Slot slot : started) join(slot);
  for (const std::uint32_t channel : left) {
    if (table_.channel(channel).held == 0) continue;
    touch(channel);
    enqueue(channel);
  }
  fill_by_passes();
  fill_by_queue();
  apply();
  return members_;
}

void RateSolver::touch(std::uint32_t index) {
  Channel& channel = channels_[index];
  if (channel.round == round_) return;
  const FlowTable::Channel& state = table_.channel(index);
  const bool holds = state.held > 0;
  channel = {};
  channel.left = state.capacity - state.load;
  channel.key = kUncapped;
  channel.watch = holds ? state.level : kUncapped;
  channel.fastest_standing = channel.watch;
  channel.flows = static_cast<std::uint32_t>(state.members.size());
  channel.round = round_;
  if (holds) ++watched_;
  touched_.push_back(index);
}

/// Lets a flow rise that stood still (or is new, with rate 0).
void RateSolver::join(Slot slot) {
  if (member_of_[slot] != kNone) return;
  const auto member = static_cast<std::uint32_t>(members_.size());
  member_of_[slot] = member;
  push_tightly(members_, {.flow = slot});
  ++rising_;
  const FlowTable::Flow& flow = table_.flow(slot);
  if (flow.cap < kUncapped) capped_.push({flow.cap, member});
  const std::span<const FlowTable::Load> loads = table_.loads(flow);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const std::uint32_t index = loads[i].channel;
    touch(index);
    const double weight = table_.weight(flow, i);
    Channel& channel = channels_[index];
    channel.left += weight * flow.rate;
    channel.weight += weight;
    channel.rising += 1;
    channel.members += 1;
    if (channel.rising == channel.flows) channel.left = table_.channel(index).capacity;  // without the rounding of sums
    enqueue(index);
  }
}

void RateSolver::join_held(std::uint32_t index) {
  for (const Slot slot : table_.channel(index).members) {
    if (table_.flow(slot).holder == index) join(slot);
  }
}

/// Lets those flows of a full channel join that must give way: the fastest first, until the level at
/// which the channel is full is not below the rate of any that stands still. True if there was one.
bool RateSolver::join_faster(std::uint32_t index) {
  Channel& channel = channels_[index];
  if (channel.members == channel.flows || channel.fastest_standing <= kAbove * channel.full_level()) return false;
  faster_.clear();
  const BytesPerSecond limit = kAbove * channel.full_level();
  for (const Slot slot : table_.channel(index).members) {
    if (table_.flow(slot).rate > limit && member_of_[slot] == kNone) faster_.push_back(slot);
  }
  const auto rate = [&](Slot slot) { return table_.flow(slot).rate; };
  std::ranges::sort(faster_, [&](Slot a, Slot b) { return rate(a) != rate(b) ? rate(a) > rate(b) : a < b; });
  std::size_t next = 0;
  while (next < faster_.size() && rate(faster_[next]) > kAbove * channel.full_level()) join(faster_[next++]);
  channel.fastest_standing = next < faster_.size() ? rate(faster_[next]) : limit;
  return next > 0;
}

/// As long as many channels are full at one level, as in lock-step and symmetric patterns, plain
/// passes over the channels do.
void RateSolver::fill_by_passes() {
  while (rising_ > 0 || watched_ > 0) {
    BytesPerSecond least = kUncapped;
    std::size_t ties = 0;
    std::size_t open = 0;
    for (const std::uint32_t index : open_) {
      const BytesPerSecond level = channels_[index].next_level();
      channels_[index].key = level;
      if (level == kUncapped) continue;
      open_[open++] = index;
      if (level < least) ties = 0;
      least = std::min(least, level);
      if (level == least) ++ties;
    }
    open_.resize(open);
    if (open == 0 || ties * kTieShare < open) break;
    if (stop_capped(least)) continue;
    for (std::size_t i = 0; i < open; ++i) {
      if (channels_[open_[i]].key == least) reach(open_[i], least);
    }
  }
}

/// Channels by the level at which something happens on them. That level mostly rises, as flows stop
/// below it; so an entry is brought up to date before it counts.
void RateSolver::fill_by_queue() {
  if (rising_ == 0 && watched_ == 0) return;
  by_queue_ = true;
  BytesPerSecond least = kUncapped;
  for (const std::uint32_t index : open_) least = std::min(least, channels_[index].next_level());
  waiting_.clear(least < kUncapped ? std::max(least, BytesPerSecond()) : BytesPerSecond());
  for (const std::uint32_t index : open_) {
    channels_[index].key = waiting_.push(channels_[index].next_level(), index);
  }
  const auto update = [&](LevelQueue::Entry& entry) { return bring_up_to_date(entry); };
  while ((rising_ > 0 || watched_ > 0) && waiting_.advance(update)) {
    LevelQueue::Entry entry = waiting_.top();
    const BytesPerSecond level = entry.level;
    const bool valid = bring_up_to_date(entry);
    if (!valid || entry.level > level) {
      waiting_.pop();
      if (valid) waiting_.push(entry.level, entry.number);
    } else if (!stop_capped(level)) {
      reach(entry.number, level);
    }
  }
  stop_capped(kUncapped);
  watched_ = 0;
}

/// Raises an entry's level to what it is by now; false if nothing is left to happen.
bool RateSolver::bring_up_to_date(LevelQueue::Entry& entry) {
  Channel& channel = channels_[entry.number];
  if (channel.key != entry.level) return false;  // another entry has taken its place
  channel.key = std::max(channel.key, channel.next_level());
  entry.level = channel.key;
  return channel.key < kUncapped;
}

/// Sees to it that a channel comes up in time after its next level may have fallen.
void RateSolver::enqueue(std::uint32_t index) {
  Channel& channel = channels_[index];
  if (!by_queue_) {
    if (channel.key == kUncapped) open_.push_back(index);
    channel.key = {};  // the next pass works it out
    return;
  }
  const BytesPerSecond level = channel.next_level();
  if (level >= channel.key) return;
  channel.key = waiting_.push(level, index);
}

/// The level has come to a channel's next level.
void RateSolver::reach(std::uint32_t index, BytesPerSecond level) {
  Channel& channel = channels_[index];
  if (channel.rising > 0 && channel.full_level() <= level) {
    if (join_faster(index)) return;
    for (const Slot slot : table_.channel(index).members) {
      const std::uint32_t member = member_of_[slot];
      if (member != kNone && !members_[member].stopped()) stop(member, level, index);
    }
  } else if (channel.watch <= level) {
    channel.watch = kUncapped;
    --watched_;
    const BytesPerSecond spare = channel.left - channel.weight * level;
    if (spare > (kAbove - 1.0) * table_.channel(index).capacity) join_held(index);
  }
}

/// Stops the flows whose cap is not above the level; true if there was one.
bool RateSolver::stop_capped(BytesPerSecond level) {
  bool any = false;
  for (; !capped_.empty() && capped_.top().level <= level; capped_.pop()) {
    const auto [cap, member] = capped_.top();
    if (members_[member].stopped()) continue;
    stop(member, cap, FlowTable::kNoChannel);
    any = true;
  }
  return any;
}

void RateSolver::stop(std::uint32_t member, BytesPerSecond rate, std::uint32_t holder) {
  Member& stopped = members_[member];
  const FlowTable::Flow& flow = table_.flow(stopped.flow);
  if (std::abs((rate - flow.rate).count()) <= kSame * flow.rate.count()) rate = flow.rate;
  stopped.rate = rate;
  stopped.holder = holder;
  --rising_;
  const std::span<const FlowTable::Load> loads = table_.loads(flow);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    const double weight = table_.weight(flow, i);
    Channel& channel = channels_[loads[i].channel];
    channel.left -= weight * rate;
    channel.weight -= weight;
    channel.rising -= 1;
  }
}

/// Writes the rates of the members into the table, and leaves in members_ those that changed.
void RateSolver::apply() {
  std::size_t changed = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member member = members_[i];
    FlowTable::Flow& flow = table_.flow(member.flow);
    member_of_[member.flow] = kNone;
    if (flow.rate != member.rate) members_[changed++] = {member.flow, member.holder, flow.rate};
    if (flow.holder != FlowTable::kNoChannel) --table_.channel(flow.holder).held;
    flow.rate = member.rate;
    flow.holder = member.holder;
    if (member.holder == FlowTable::kNoChannel) continue;
    FlowTable::Channel& holder = table_.channel(member.holder);
    holder.held += 1;
    holder.level = member.rate;
  }
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(changed), members_.end());
  for (const std::uint32_t index : touched_) {
    FlowTable::Channel& channel = table_.channel(index);
    channel.load = channel.capacity - channels_[index].left;
    if (++channel.updates % kUpdatesOfLoad == 0) table_.add_up_load(index);
  }
}

/// Gives back what one large filling needed, once a small one has followed.
void RateSolver::release_memory() {
  constexpr std::size_t kLarge = 16384;
  if (members_.capacity() >= kLarge && members_.size() < members_.capacity() / 64) members_ = {};
}

}  // namespace gpuscale

#include "network/flow_model.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "network/tight_growth.hpp"
#include "units/check.hpp"

namespace gpuscale {
namespace {

/// Rounded up to a picosecond, but not for the rounding of a double: 64 MB at 12.5 GB/s are
/// 5,120,000,000 ps and not one more.
Time completion(Time now, Bytes remaining, BytesPerSecond rate) {
  constexpr double kRounding = 1e-12;
  constexpr double kTooLate = 9e18;
  const double duration = (remaining / rate).count() * 1e12;
  if (!(duration < kTooLate - static_cast<double>(now.picoseconds()))) return kNever;
  const auto whole = static_cast<std::int64_t>(duration);
  const double beyond = duration - static_cast<double>(whole);
  const bool rounding = beyond < 0.5 && beyond <= duration * kRounding;
  return Time(now.picoseconds() + whole + (beyond > 0.0 && !rounding ? 1 : 0));
}

}  // namespace

FlowModel::FlowModel(std::span<const BytesPerSecond> capacity)
    : table_(capacity), solver_(table_), usage_(capacity.size()) {}

FlowId FlowModel::start(Time now, std::span<const ChannelLoad> loads, Bytes amount, std::uint32_t tag,
                        BytesPerSecond cap) {
  advance(now);
  check(amount >= Bytes() && std::isfinite(amount.count()), "the bytes of a flow are finite and not negative");
  check(!loads.empty() || cap < kUncapped || amount == Bytes(), "a flow without loads has a cap");
  check(started_count_ != UINT32_MAX, "a flow model starts fewer than 2^32 flows");
  const bool empty = amount == Bytes();
  loads = table_.in_order(empty ? std::span<const ChannelLoad>() : loads);
  for (const ChannelLoad& load : loads) usage_[load.channel.index()].sent += load.weight * amount;
  const Progress progress = {amount, now, started_count_++, tag};
  if (const std::uint32_t slot = take_over(loads, cap); slot != kNone) {
    progress_[slot] = progress;
    completions_.set(slot, completion(now, amount, table_.flow(slot).rate));
    return FlowId(slot);
  }
  const std::uint32_t slot = table_.add(loads, cap);
  if (slot >= progress_.size()) resize_tightly(progress_, slot + 1);
  progress_[slot] = progress;
  if (empty) {
    completions_.set(slot, now);
    return FlowId(slot);
  }
  for (const ChannelLoad& load : loads) {
    if (table_.channel(load.channel.index()).members.size() == 1) usage_[load.channel.index()].busy_since = now;
  }
  push_tightly(started_, slot);
  ++unsettled_;
  return FlowId(slot);
}

void FlowModel::settle(Time now) {
  advance(now);
  remove_vacant();
  changed_ = {};
  if (started_.empty() && left_.empty()) {
    completions_.refresh();
    return;
  }
  completions_.expect(started_.size(), progress_.size());
  changed_ = solver_.resolve(started_, left_);
  for (const RateSolver::Member& change : changed_) {
    Progress& progress = progress_[change.flow];
    progress.remaining = remaining(change.flow, change.rate);
    progress.since = now;
    completions_.set(change.flow, completion(now, progress.remaining, table_.flow(change.flow).rate));
  }
  started_.clear();
  left_.clear();
  unsettled_ = 0;
  completions_.refresh();
}

void FlowModel::finish(Time now, std::vector<std::uint32_t>& tags) {
  advance(now);
  check(completions_.next() >= now, "no completion may be left out");
  completions_.take_due(now, done_);
  const auto number = [&](std::uint32_t slot) { return progress_[slot].number; };
  if (!std::ranges::is_sorted(done_, std::less<>(), number)) std::ranges::sort(done_, std::less<>(), number);
  tags.clear();
  for (const std::uint32_t slot : done_) {
    tags.push_back(progress_[slot].tag);
    vacate(slot);
  }
}

Bytes FlowModel::stop(Time now, FlowId flow) {
  advance(now);
  check(started_.empty(), "a flow that is stopped has its rate");
  const std::uint32_t slot = slot_of(flow);
  const FlowTable::Flow& own = table_.flow(slot);
  const Bytes left = remaining(slot, own.rate);
  const std::span<const FlowTable::Load> loads = table_.loads(own);
  for (std::size_t i = 0; i < loads.size(); ++i) usage_[loads[i].channel].sent -= table_.weight(own, i) * left;
  completions_.erase(slot);
  remove(slot);
  return left;
}

bool FlowModel::holds(ChannelId channel, BytesPerSecond rate) const {
  constexpr double kSame = 1e-9;
  const FlowTable::Channel& own = table_.channel(channel.index());
  if (own.load < own.capacity * (1.0 - kSame)) return false;
  return std::ranges::all_of(own.members,
                             [&](FlowTable::Slot slot) { return table_.flow(slot).rate <= rate * (1.0 + kSame); });
}

Bytes FlowModel::carried(ChannelId channel) const {
  const auto index = static_cast<std::uint32_t>(channel.index());
  Bytes left;
  for (const std::uint32_t slot : table_.channel(index).members) {
    const FlowTable::Flow& flow = table_.flow(slot);
    left += table_.weight(flow, table_.load_on(flow, index)) * remaining(slot, flow.rate);
  }
  return std::max(usage_[index].sent - left, Bytes());
}

Seconds FlowModel::busy_time(ChannelId channel) const {
  const Usage& usage = usage_[channel.index()];
  const bool busy = !table_.channel(channel.index()).members.empty();
  return Time(usage.busy).since_start() + (busy ? now_ - usage.busy_since : Seconds());
}

double FlowModel::busy_share(ChannelId channel) const {
  if (now_ == Time()) return 0.0;
  return carried(channel) / (table_.channel(channel.index()).capacity * now_.since_start());
}

void FlowModel::advance(Time now) {
  if (now == now_) return;
  check(now > now_, "the clock of a flow model does not go back");
  remove_vacant();
  now_ = now;
}

/// Takes a complete flow out of the books, but not yet off its channels: another may take its place.
void FlowModel::vacate(std::uint32_t slot) {
  const std::span<const FlowTable::Load> loads = table_.loads(table_.flow(slot));
  if (loads.empty()) return remove(slot);
  const std::uint32_t first = loads.front().channel;
  Usage& usage = usage_[first];
  if (usage.vacant == kNone) {
    vacant_.push_back(first);
  } else {
    remove(usage.vacant);
  }
  usage.vacant = slot;
  progress_[slot].remaining = {};
  progress_[slot].since = now_;
}

/// The vacant slot of a flow with the same demand; or kNone, and then the slot that was in question is removed.
std::uint32_t FlowModel::take_over(std::span<const ChannelLoad> loads, BytesPerSecond cap) {
  if (vacant_.empty() || loads.empty()) return kNone;
  const std::uint32_t slot = std::exchange(usage_[loads.front().channel.index()].vacant, kNone);
  if (slot == kNone || table_.demands(table_.flow(slot), loads, cap)) return slot;
  remove(slot);
  return kNone;
}

void FlowModel::remove_vacant() {
  for (const std::uint32_t channel : vacant_) {
    const std::uint32_t slot = std::exchange(usage_[channel].vacant, kNone);
    if (slot != kNone) remove(slot);
  }
  vacant_.clear();
}

// inline: every flow that ends comes this way, those that are stopped seldom.
inline void FlowModel::remove(std::uint32_t slot) {
  for (const FlowTable::Load& load : table_.loads(table_.flow(slot))) {
    if (table_.channel(load.channel).members.size() == 1) {
      Usage& usage = usage_[load.channel];
      usage.busy += now_.picoseconds() - usage.busy_since.picoseconds();
    }
    left_.push_back(load.channel);
  }
  table_.remove(slot);
}

/// Bytes a flow has still to send at now_, having gone at `rate` since its last change.
Bytes FlowModel::remaining(std::uint32_t slot, BytesPerSecond rate) const {
  const Progress& progress = progress_[slot];
  return std::max(progress.remaining - rate * (now_ - progress.since), Bytes());
}

}  // namespace gpuscale

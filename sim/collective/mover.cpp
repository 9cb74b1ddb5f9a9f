#include "collective/mover.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace gpuscale {

namespace {

constexpr std::size_t kMostChunks = 64;
/// More parts of a move than this share one pace: beside other traffic less exact, and cheap on large clusters.
constexpr std::size_t kMostParts = 32;
/// Nor do the steps of a move that overlaps others stand apart if they are more transfers than this.
constexpr std::size_t kMostStepsApart = 128;

Seconds longest_walk(const std::vector<Leg>& legs, std::span<const Seconds> costs, std::size_t ranks,
                     std::size_t steps) {
  std::vector<Seconds> now(ranks);
  for (std::size_t step = 0; step < steps; ++step) {
    std::vector<Seconds> next = now;
    for (std::size_t i = 0; i < legs.size(); ++i) {
      next[legs[i].to] = std::max(next[legs[i].to], now[legs[i].from] + costs[i]);
    }
    now = std::move(next);
  }
  return *std::ranges::max_element(now);
}

}  // namespace

double heaviest_leg(const Pattern& pattern) {
  double weight = 0.0;
  for (const std::vector<Leg>& legs : pattern.channels) {
    for (const Leg& leg : legs) weight = std::max(weight, leg.weight);
  }
  return weight;
}

void share_by_leg(Transfer& whole, double leg) {
  whole.amount = whole.amount * leg;
  whole.cap = whole.cap * leg;
  for (ChannelLoad& load : whole.loads) load.weight /= leg;
}

RankTasks join_ranks(PlanBuilder& plan, const std::vector<RankTasks>& several) {
  RankTasks joined;
  std::map<RankTasks, TaskId> known;
  for (std::size_t i = 0; i < several.front().size(); ++i) {
    RankTasks own;
    for (const RankTasks& tasks : several) own.push_back(tasks[i]);
    const auto [position, is_new] = known.try_emplace(std::move(own));
    if (is_new) position->second = plan.join(position->first);
    joined.push_back(position->second);
  }
  return joined;
}

Seconds longest_walk(const Pattern& pattern, std::span<const Seconds> costs, std::size_t ranks, std::size_t steps) {
  if (costs.empty() || steps == 0) return {};
  const auto [least, most] = std::ranges::minmax_element(costs);
  if (*least == *most) return *most * static_cast<double>(steps);
  constexpr std::size_t kMostWork = 4'000'000;
  if (costs.size() * steps > kMostWork) {  // the mean of many legs is as good
    Seconds sum;
    for (const Seconds cost : costs) sum += cost;
    return sum * (static_cast<double>(steps) / static_cast<double>(costs.size()));
  }
  Seconds longest;
  std::size_t first = 0;
  for (const std::vector<Leg>& legs : pattern.channels) {
    longest = std::max(longest, longest_walk(legs, costs.subspan(first, legs.size()), ranks, steps));
    first += legs.size();
  }
  return longest;
}

const Hops& Mover::hops_of(const GroupPattern& pattern) const {
  return company_ == Company::none ? group_.binding_hops(pattern, protocol_) : group_.hops(pattern, protocol_);
}

void Mover::slow(Transfer& transfer, const Participant& rank) const {
  if (rank.compute.valid() && company_ == Company::others) transfer.slowed_lanes.push_back(rank.compute);
}

BytesPerSecond Mover::pace(const GroupPattern& pattern) const {
  const Hops& hops = hops_of(pattern);
  return std::min(hops.ceiling(group_.topology()), hops.pace(group_.topology()));
}

Seconds Mover::step(const GroupPattern& pattern) const { return hops_of(pattern).latency; }

std::size_t Mover::chunks(Seconds step, BytesPerSecond pace, Bytes bytes, double fill) const {
  // (C + fill) (step + bytes / C / pace) is least at C^2 = fill x bytes / pace / step.
  if (step.count() <= 0 || fill <= 0) return fill > 0 ? kMostChunks : 1;
  const double best = std::sqrt(fill * (bytes / pace).count() / step.count());
  if (best <= 1.0) return 1;
  return std::min(kMostChunks, std::size_t{1} << static_cast<unsigned>(std::lround(std::log2(best))));
}

Seconds Mover::opening(const Hops& hops, Seconds latency, const MoveCost& cost) const {
  const Transport& transport = group_.transport();
  Seconds time = cost.extra + latency;
  const double others = static_cast<double>(cost.at_once) - 1.0;
  if (cost.opens) {
    time += hops.start + transport.start + transport.peer * others;
    const double ranks = static_cast<double>(group_.nodes().front().size());
    const double launches = cost.at_once > 1 ? others : 0.0;
    const Seconds launched = transport.launch * ranks + transport.launch_peer * (ranks * launches);
    time = std::max(time, launched) + exchange_.call;
  }
  const BytesPerSecond pace = std::min(hops.ceiling(group_.topology()), hops.pace(group_.topology()));
  if (transport.own_copy > 0 && cost.own.count() > 0 && !hops.staged)
    time += cost.own / (pace * (static_cast<double>(cost.at_once) * transport.own_copy));
  return time;
}

Transfer Mover::transfer(const Hops& hops, Bytes bytes, Seconds latency) const {
  Transfer transfer;
  transfer.amount = bytes;
  transfer.loads = hops.loads;
  transfer.cap = hops.ceiling(group_.topology());
  transfer.latency = latency;
  transfer.slowdown = group_.transport().interference;
  transfer.label = exchange_.label;
  return transfer;
}

RankTasks Mover::move(const GroupPattern& pattern, std::size_t steps, Bytes bytes, const RankTasks& ready,
                      const MoveCost& cost) {
  if (steps == 0 || pattern.pattern.channels.empty()) return ready;
  return exchange_.fidelity == Fidelity::stepwise ? move_stepwise(pattern, steps, bytes, ready, cost)
                                                  : move_coupled(pattern, steps, bytes, ready, cost);
}

std::span<const GroupPattern> Mover::paced_parts(const GroupPattern& pattern, const MoveCost& cost) const {
  const std::span<const GroupPattern> whole(&pattern, 1);
  if (company_ == Company::none || cost.lock_step || cost.one_pace) return whole;
  if (pattern.parts.empty()) {
    for (Pattern& part : parts_of(pattern.pattern)) pattern.parts.push_back({.pattern = std::move(part)});
  }
  return pattern.parts.size() > 1 && pattern.parts.size() <= kMostParts ? pattern.parts : whole;
}

RankTasks Mover::move_coupled(const GroupPattern& pattern, std::size_t steps, Bytes bytes, const RankTasks& ready,
                              const MoveCost& cost) {
  const std::span<const GroupPattern> parts = paced_parts(pattern, cost);
  const bool apart = cost.overlaps && company_ == Company::others && parts.size() * steps <= kMostStepsApart;
  const std::size_t at_once = apart ? 1 : steps;
  const TaskId first(plan_.size());
  RankTasks done = move_parts(pattern, parts, at_once, bytes, ready, cost);
  for (std::size_t step = at_once; step < steps; step += at_once)
    done = move_parts(pattern, parts, at_once, bytes, done, {});
  note_steps(
      pattern, first, parts.size(), at_once, cost,
      {.times = static_cast<std::uint32_t>(steps), .bytes = bytes, .opening = first_opening(pattern, steps, cost)});
  return done;
}

RankTasks Mover::move_parts(const GroupPattern& pattern, std::span<const GroupPattern> parts, std::size_t steps,
                            Bytes bytes, const RankTasks& ready, const MoveCost& cost) {
  const Hops& all = hops_of(pattern);
  RankTasks done = ready;
  for (const GroupPattern& part : parts) {
    const Seconds latency = latency_of(part, steps, cost);
    Transfer moving = transfer(hops_of(part), bytes * static_cast<double>(steps), opening(all, latency, cost));
    moving.cap = all.ceiling(group_.topology());
    share_by_leg(moving, heaviest_leg(part.pattern));
    const std::vector<bool> in = touched(part.pattern, group_.size());
    RankTasks after;
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!in[i]) continue;
      if (after.empty() || after.back() != ready[i]) after.push_back(ready[i]);
      slow(moving, group_.ranks()[i]);
    }
    const TaskId moved = plan_.add(moving, after);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (in[i]) done[i] = moved;
    }
  }
  return done;
}

Hops Mover::hops_of(const Leg& leg, const Hops& pattern) const {
  const DeviceId relay = leg.relay == kNoRank ? DeviceId() : group_.ranks()[leg.relay].gpu;
  Hops own = hop(group_.topology(), group_.ranks()[leg.from].gpu, group_.ranks()[leg.to].gpu, group_.transport(),
                 protocol_, relay);
  own.cap = std::min(own.cap, pattern.ceiling(group_.topology()) * leg.weight);
  return own;
}

TaskId Mover::add_leg(const Leg& leg, const Hops& hops, Bytes bytes, Seconds extra, std::span<const TaskId> after) {
  const Hops own = hops_of(leg, hops);
  Transfer copy = transfer(own, bytes * leg.weight, std::max(Seconds(), own.latency + extra));
  copy.cap = own.cap;
  slow(copy, group_.ranks()[leg.from]);
  return plan_.add(copy, after);
}

Seconds Mover::latency_of(const GroupPattern& pattern, std::size_t steps, const MoveCost& cost) const {
  const Hops& hops = hops_of(pattern);
  if (cost.lock_step) return hops.latency * static_cast<double>(steps);
  return longest_walk(pattern.pattern, hops.steps, group_.size(), steps);
}

Seconds Mover::first_opening(const GroupPattern& pattern, std::size_t steps, const MoveCost& cost) const {
  const Seconds latency = latency_of(pattern, steps, cost);
  return opening(hops_of(pattern), latency, cost) - latency;
}

void Mover::pass_on(const std::vector<RankTasks>& settled, RankTasks& before, bool lock_step) {
  RankTasks all;
  for (std::size_t i = 0; i < settled.size(); ++i) {
    if (settled[i].empty()) continue;
    before[i] = plan_.join(settled[i]);
    all.push_back(before[i]);
  }
  if (!lock_step) return;
  const TaskId together = plan_.join(all);
  for (TaskId& task : before) task = together;
}

RankTasks Mover::move_stepwise(const GroupPattern& pattern, std::size_t steps, Bytes bytes, const RankTasks& ready,
                               const MoveCost& cost) {
  const Hops& hops = hops_of(pattern);
  const Seconds first = first_opening(pattern, steps, cost);
  RankTasks done = ready;
  std::vector<RankTasks> all(group_.size());
  for (const std::vector<Leg>& channel : pattern.pattern.channels) {
    RankTasks before = ready;
    for (std::size_t step = 0; step < steps; ++step) {
      std::vector<RankTasks> settled(group_.size());
      for (const Leg& leg : channel) {
        const Seconds extra = step == 0 ? first : Seconds();
        const std::array<TaskId, 2> after = {before[leg.from], step == 0 ? before[leg.to] : TaskId()};
        const TaskId copied = add_leg(leg, hops, bytes, extra, after);
        settled[leg.to].push_back(copied);
        settled[leg.from].push_back(copied);
      }
      pass_on(settled, before, cost.lock_step);
    }
    for (std::size_t i = 0; i < before.size(); ++i) all[i].push_back(before[i]);
  }
  for (std::size_t i = 0; i < done.size(); ++i) done[i] = plan_.join(all[i]);
  return done;
}

}  // namespace gpuscale

// Moves that are no steps of legs: chunks along lines, and sums in switches.

#include <algorithm>
#include <array>
#include <cmath>

#include "collective/mover.hpp"

namespace gpuscale {

namespace {

/// Chunks of a line are of this size or twice it, and no more than so many.
constexpr Bytes kLineChunk{131072.0};
constexpr double kMostInLine = 1024.0;
/// A switch adds up what it has from all ranks and keeps little, so that no rank runs ahead of the others; step by step
/// none does by more than one of so many chunks.
constexpr std::size_t kChunksInSwitch = 64;

std::size_t chunks_in_line(Bytes bytes) {
  const double count = std::clamp(bytes / kLineChunk, 1.0, kMostInLine);
  return std::size_t{1} << static_cast<unsigned>(std::log2(count));
}

}  // namespace

RankTasks Mover::pass_along(const GroupPattern& lines, Bytes bytes, const RankTasks& ready, const MoveCost& cost) {
  const Hops& hops = hops_of(lines);
  const std::size_t fill = lines.pattern.channels.front().size() - 1;
  const std::size_t count = chunks_in_line(bytes);
  const Bytes chunk = bytes / static_cast<double>(count);
  const Seconds latency = hops.latency * static_cast<double>(fill + 1);  // chunks follow each other without a pause
  const Seconds opened = opening(hops, latency, cost);
  if (exchange_.fidelity == Fidelity::coupled) {
    // Each leg works all the time but for the fill, earlier or later.
    const double steps = static_cast<double>(count + fill);
    Transfer whole = transfer(hops, chunk * steps, opened);
    for (ChannelLoad& load : whole.loads) load.weight *= static_cast<double>(count) / steps;
    whole.cap = std::min(whole.cap, pace(lines));
    share_by_leg(whole, heaviest_leg(lines.pattern));
    for (const Participant& rank : group_.ranks()) slow(whole, rank);
    const TaskId moved = plan_.add(whole, ready);
    note_steps(
        lines, moved, 1, count + fill, cost,
        {.times = static_cast<std::uint32_t>(count), .bytes = chunk, .opening = opened - latency, .streams = true});
    return RankTasks(group_.size(), moved);
  }
  const Seconds first = opened - latency;
  std::vector<RankTasks> arrived(group_.size());
  for (const std::vector<Leg>& legs : lines.pattern.channels) {
    RankTasks previous(legs.size());  // per leg, its chunk before
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < legs.size(); ++i) {
        const std::array<TaskId, 3> after = {i == 0 ? ready[legs[i].from] : previous[i - 1], previous[i],
                                             ready[legs[i].to]};
        const Seconds extra = k > 0 ? Seconds() - hops.latency : i == 0 ? first : Seconds();
        previous[i] = add_leg(legs[i], hops, chunk, extra, after);
      }
    }
    for (std::size_t i = 0; i < legs.size(); ++i) arrived[legs[i].to].push_back(previous[i]);
    arrived[legs.front().from].push_back(previous.front());
  }
  RankTasks done;
  for (const RankTasks& tasks : arrived) done.push_back(plan_.join(tasks));
  return done;
}

Hops Mover::hops_of(const SwitchWays& ways, const SwitchShares& shares) const {
  Hops both = company_ == Company::none ? together(group_.binding_hops(ways.up), group_.binding_hops(ways.down), shares)
                                        : together(ways.up, ways.down, shares);
  both.delivered = ways.figures.delivered;
  return both;
}

BytesPerSecond Mover::pace(const SwitchWays& ways, const SwitchShares& shares) const {
  return hops_of(ways, shares).pace(group_.topology()) * ways.figures.delivered;
}

RankTasks Mover::move(const SwitchWays& ways, const SwitchShares& shares, Bytes bytes, double steps,
                      const RankTasks& ready, const MoveCost& cost) {
  const Hops both = hops_of(ways, shares);
  const Seconds before = opening(both, ways.figures.step * steps, cost);
  if (exchange_.fidelity == Fidelity::coupled) {
    stay_coupled();
    Transfer whole = transfer(both, bytes, before);
    for (const Participant& rank : group_.ranks()) slow(whole, rank);
    return RankTasks(group_.size(), plan_.add(whole, ready));
  }
  // What comes down was sent up just before, so neither way runs ahead of the pace of all.
  const BytesPerSecond most = std::min(both.ceiling(group_.topology()), both.pace(group_.topology()));
  TaskId done = plan_.join(ready);
  for (std::size_t chunk = 0; chunk < kChunksInSwitch; ++chunk) {
    RankTasks parts;
    for (std::size_t rank = 0; rank < ways.ranks.size(); ++rank) {
      const SwitchWay& way = ways.ranks[rank];
      for (const Hops& one : {together(way.up, {}, {.up = shares.up}), together({}, way.down, {.down = shares.down})}) {
        Transfer part = transfer(one, bytes / static_cast<double>(kChunksInSwitch), chunk == 0 ? before : Seconds());
        part.cap = most;
        slow(part, group_.ranks()[rank]);
        parts.push_back(plan_.add(part, {done}));
      }
    }
    done = plan_.join(parts);
  }
  return RankTasks(group_.size(), done);
}

}  // namespace gpuscale

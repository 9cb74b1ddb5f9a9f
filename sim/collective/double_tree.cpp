#include <algorithm>
#include <vector>

#include "collective/algorithms.hpp"

namespace gpuscale {

namespace {

/// Above this many ranks the pipeline is not moved step by step.
constexpr std::size_t kMostInSteps = 1024;
/// So many of its steps then stand for all.
constexpr std::size_t kSampledSteps = 6;

/// What is under way at one step: chunk k crosses level l upward at step depth - l + k, downward at depth + l - 1 + k.
GroupPattern at_step(const std::vector<TreeEdge>& edges, std::size_t ranks, std::size_t depth, std::size_t step,
                     std::size_t chunks) {
  const auto under_way = [&](std::size_t begin) { return step >= begin && step < begin + chunks; };
  GroupPattern result{.pattern = {.channels = {{}, {}}}};
  for (std::size_t tree = 0; tree < 2; ++tree) {
    for (const TreeEdge& edge : edges) {
      const std::size_t child = (edge.child + tree) % ranks;
      const std::size_t parent = (edge.parent + tree) % ranks;
      std::vector<Leg>& legs = result.pattern.channels[tree];
      if (under_way(depth - edge.level)) legs.push_back({.from = child, .to = parent, .weight = 0.5});
      if (under_way(depth + edge.level - 1)) legs.push_back({.from = parent, .to = child, .weight = 0.5});
    }
  }
  return result;
}

/// What a step of the pipeline takes that is not full, on the mean.
TreeStep mean_step(const Mover& mover, const std::vector<TreeEdge>& edges, std::size_t depth, std::size_t chunks) {
  const RankGroup& group = mover.group();
  const auto [known, is_new] = group.tree_steps().try_emplace({chunks, mover.protocol()});
  if (!is_new) return known->second;
  const std::size_t fill = 2 * depth - 1;
  const std::size_t samples = std::min(kSampledSteps, fill + 1);
  for (std::size_t i = 0; i < samples; ++i) {
    const GroupPattern pattern = at_step(edges, group.size(), depth, i * fill / samples, chunks);
    known->second.latency += mover.step(pattern) / static_cast<double>(samples);
    known->second.byte += 1_B / mover.pace(pattern) / static_cast<double>(samples);
  }
  return known->second;
}

/// The same time as step by step, as one transfer.
RankTasks add_in_one(Mover& mover, const std::vector<TreeEdge>& edges, std::size_t depth, std::size_t chunks,
                     Bytes size, const RankTasks& ready, Seconds extra) {
  const GroupPattern& all = mover.group().trees();
  const Bytes chunk = size / static_cast<double>(chunks);
  const std::size_t full = chunks > 2 * depth ? chunks - 2 * depth : 0;
  const TreeStep mean = mean_step(mover, edges, depth, chunks);
  const double others = static_cast<double>(2 * depth - 1 + chunks - full);
  const Seconds partly = (mean.latency + mean.byte * chunk.count()) * others;
  const Seconds carried = (mover.step(all) + chunk / mover.pace(all)) * static_cast<double>(chunks);
  const Seconds fully = (mover.step(all) + chunk / mover.pace(all)) * static_cast<double>(full);
  return mover.move(all, chunks, chunk, ready,
                    {.opens = true, .extra = extra + partly + fully - carried, .lock_step = true});
}

}  // namespace

RankTasks add_double_tree(Mover& mover, Collective /*what*/, Bytes size, const RankTasks& ready, Seconds extra) {
  const std::size_t ranks = mover.group().size();
  const std::vector<TreeEdge> edges = balanced_tree(ranks);
  const std::size_t depth = std::ranges::max(edges, {}, &TreeEdge::level).level;
  const GroupPattern& all = mover.group().trees();
  const std::size_t fill = 2 * depth - 1;
  const std::size_t chunks = mover.chunks(mover.step(all), mover.pace(all), size, static_cast<double>(fill));
  const Bytes chunk = size / static_cast<double>(chunks);
  if (ranks > kMostInSteps) return add_in_one(mover, edges, depth, chunks, size, ready, extra);
  const std::size_t steps = fill + chunks;
  RankTasks done = ready;
  for (std::size_t step = 0; step < steps;) {
    const GroupPattern pattern = at_step(edges, ranks, depth, step, chunks);
    std::size_t same = step + 1;
    while (same < steps && at_step(edges, ranks, depth, same, chunks).pattern == pattern.pattern) ++same;
    done = mover.move(pattern, same - step, chunk, done,
                      {.opens = step == 0, .extra = step == 0 ? extra : Seconds(), .lock_step = true});
    done.assign(ranks, mover.plan().join(done));
    step = same;
  }
  return done;
}

}  // namespace gpuscale

// What coupled transfers are step by step, for whoever runs the plan to fall back on.

#include <algorithm>

#include "collective/mover.hpp"

namespace gpuscale {

namespace {

/// Exchanges of more copies than this stay coupled in any company.
constexpr std::size_t kMostCopies = 40'000;

}  // namespace

std::shared_ptr<const StepPattern> Mover::steps_of(const GroupPattern& pattern, std::size_t parts, bool lines) const {
  std::shared_ptr<const StepPattern>& known = pattern.steps[static_cast<std::size_t>(protocol_)];
  if (known) return known;
  std::vector<std::uint32_t> part_of(group_.size(), 0);
  for (std::size_t part = 0; parts > 1 && part < parts; ++part) {
    const std::vector<bool> in = touched(pattern.parts[part].pattern, group_.size());
    for (std::size_t rank = 0; rank < in.size(); ++rank) {
      if (in[rank]) part_of[rank] = static_cast<std::uint32_t>(part);
    }
  }
  const Hops& all = hops_of(pattern);
  std::vector<StepCopy> copies;
  std::vector<ChannelLoad> loads;
  for (std::size_t strand = 0; strand < pattern.pattern.channels.size(); ++strand) {
    std::uint32_t place = 0;
    for (const Leg& leg : pattern.pattern.channels[strand]) {
      const Hops own = hops_of(leg, all);
      copies.push_back({.from = static_cast<std::uint32_t>(leg.from),
                        .to = static_cast<std::uint32_t>(leg.to),
                        .strand = static_cast<std::uint32_t>(strand),
                        .part = part_of[leg.from],
                        .first_step = lines ? place++ : 0,
                        .weight = leg.weight,
                        .cap = own.cap,
                        .latency = own.latency,
                        .first_load = static_cast<std::uint32_t>(loads.size()),
                        .load_count = static_cast<std::uint32_t>(own.loads.size())});
      loads.insert(loads.end(), own.loads.begin(), own.loads.end());
    }
  }
  return known = std::make_shared<const StepPattern>(group_.size(), std::move(copies), std::move(loads));
}

void Mover::note_steps(const GroupPattern& pattern, TaskId first, std::size_t parts, std::size_t at_once,
                       const MoveCost& cost, SteppedMove move) {
  if (!steps_) return;
  copies_ += count_legs(pattern.pattern) * move.times;
  if (cost.lock_step || cost.one_pace || copies_ > kMostCopies) return stay_coupled();
  if (!first_.valid()) first_ = first;
  move.pattern = steps_of(pattern, parts, move.streams);
  move.steps_of_task = static_cast<std::uint32_t>(at_once);
  move.first_task = static_cast<std::uint32_t>(first.index() - first_.index());
  steps_->moves.push_back(std::move(move));
}

void Mover::finish() {
  if (steps_ && !steps_->moves.empty()) plan_.add_steps(first_, std::move(*steps_));
  steps_.reset();
}

}  // namespace gpuscale

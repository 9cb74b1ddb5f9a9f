#include "execution/steps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace gpuscale {

namespace {

/// What rounding may leave of a step, as a share of it.
constexpr double kRounding = 1e-9;

bool takes_part(const StepPattern& pattern, std::size_t rank) {
  for (std::size_t strand = 0; strand < pattern.strands(); ++strand) {
    if (!pattern.of_rank(strand, rank).empty()) return true;
  }
  return false;
}

/// The steps that a copy has behind it, with a fraction.
double position(const SteppedMove& move, const StepCopy& copy, std::span<const TaskProgress> progress) {
  double steps = 0.0;
  for (std::uint32_t step = 0; step < move.steps(); step += move.steps_of_task) {
    const double done = progress[move.task_of(copy, step)].done;
    steps += done * move.steps_of_task;
    if (done < 1.0) break;
  }
  return steps;
}

}  // namespace

Steps::Steps(const SteppedExchange& exchange, std::span<const TaskProgress> progress)
    : exchange_(exchange), moves_(exchange.moves.size()) {
  for (std::size_t number = 0; number < moves_.size(); ++number) {
    for (const std::uint32_t before : exchange.moves[number].after)
      moves_[before].followers.push_back(static_cast<std::uint32_t>(number));
    take_up(number, progress);
  }
  for (std::size_t number = 0; number < moves_.size(); ++number) {
    const StepPattern& pattern = *exchange.moves[number].pattern;
    for (const StepCopy& copy : pattern.copies()) {
      if (!moves_[number].tasks[copy.part].begun) continue;
      for (const std::uint32_t rank : {copy.from, copy.to}) enter(number, rank);
    }
  }
}

void Steps::take_up(std::size_t number, std::span<const TaskProgress> progress) {
  const SteppedMove& move = exchange_.moves[number];
  const StepPattern& pattern = *move.pattern;
  Move& own = moves_[number];
  own.under_way.resize(pattern.copies().size());
  own.step.resize(pattern.strands() * pattern.ranks());
  own.missing.resize(own.step.size());
  own.entered.resize(pattern.ranks());
  own.strands.resize(pattern.ranks());
  own.before.resize(pattern.ranks());
  own.copies.resize(move.task_count());
  const auto tasks = progress.subspan(move.first_task, move.task_count());
  own.tasks.assign(tasks.begin(), tasks.end());
  for (const StepCopy& copy : pattern.copies()) {
    const double behind = position(move, copy, progress);
    const auto last = copy.first_step + move.times;
    const auto whole = static_cast<std::uint32_t>(behind + kRounding);
    const std::uint32_t next = std::clamp(whole, copy.first_step, last);
    own.next.push_back(next);
    own.part_done.push_back(next == whole ? std::max(0.0, behind - whole) : 0.0);
    for (std::uint32_t step = next; step < last; ++step) ++own.copies[move.task_of(copy, step) - move.first_task];
  }
  for (std::uint32_t task = 0; task < own.copies.size(); ++task) {
    const bool is_open = tasks[task].begun && tasks[task].done < 1.0;
    if (is_open && own.copies[task] == 0) ended_.push_back(move.first_task + task);  // but for rounding
  }
  for (std::uint32_t rank = 0; rank < pattern.ranks(); ++rank) {
    for (std::size_t strand = 0; strand < pattern.strands(); ++strand)
      own.strands[rank] += pattern.of_rank(strand, rank).empty() ? 0U : 1U;
    for (const std::uint32_t before : move.after)
      own.before[rank] += takes_part(*exchange_.moves[before].pattern, rank) ? 1U : 0U;
  }
}

void Steps::begin(std::uint32_t task) {
  for (std::size_t number = 0; number < moves_.size(); ++number) {
    const SteppedMove& move = exchange_.moves[number];
    if (task < move.first_task || task >= move.first_task + move.pattern->parts()) continue;
    for (const StepCopy& copy : move.pattern->copies()) {
      if (move.first_task + copy.part != task) continue;
      for (const std::uint32_t rank : {copy.from, copy.to}) {
        if (moves_[number].before[rank] == 0) enter(number, rank);
      }
    }
  }
}

void Steps::enter(std::size_t number, std::uint32_t rank) {
  Move& own = moves_[number];
  if (own.entered[rank]) return;
  own.entered[rank] = true;
  const StepPattern& pattern = *exchange_.moves[number].pattern;
  for (std::size_t strand = 0; strand < pattern.strands(); ++strand) {
    if (pattern.of_rank(strand, rank).empty()) continue;
    count_missing(number, strand, rank);
    for (const std::uint32_t copy : pattern.of_rank(strand, rank)) try_start(number, copy);
    advance(number, strand, rank);
  }
}

bool Steps::has_passed(std::size_t number, std::uint32_t copy, std::uint32_t step) const {
  const SteppedMove& move = exchange_.moves[number];
  const std::uint32_t first = move.pattern->copies()[copy].first_step;
  return step < first || step >= first + move.times || moves_[number].next[copy] > step;
}

void Steps::count_missing(std::size_t number, std::size_t strand, std::uint32_t rank) {
  Move& own = moves_[number];
  const StepPattern& pattern = *exchange_.moves[number].pattern;
  const std::size_t place = strand * pattern.ranks() + rank;
  own.missing[place] = static_cast<std::uint32_t>(std::ranges::count_if(
      pattern.of_rank(strand, rank), [&](std::uint32_t copy) { return !has_passed(number, copy, own.step[place]); }));
}

void Steps::advance(std::size_t number, std::size_t strand, std::uint32_t rank) {
  Move& own = moves_[number];
  const SteppedMove& move = exchange_.moves[number];
  const std::size_t place = strand * move.pattern->ranks() + rank;
  if (!own.entered[rank] || own.step[place] == move.steps()) return;
  while (own.missing[place] == 0) {
    if (++own.step[place] == move.steps()) {
      if (--own.strands[rank] == 0) rank_over(number, rank);
      return;
    }
    count_missing(number, strand, rank);
    for (const std::uint32_t copy : move.pattern->of_rank(strand, rank)) {
      if (move.pattern->copies()[copy].from == rank) try_start(number, copy);
    }
  }
}

void Steps::try_start(std::size_t number, std::uint32_t copy) {
  Move& own = moves_[number];
  const SteppedMove& move = exchange_.moves[number];
  const StepCopy& made = move.pattern->copies()[copy];
  const std::uint32_t step = own.next[copy];
  if (own.under_way[copy] || has_passed(number, copy, step)) return;
  if (own.step[made.strand * move.pattern->ranks() + made.from] != step || !own.entered[made.from]) return;
  const bool is_first = step == made.first_step;
  if (is_first && !own.entered[made.to]) return;
  Seconds latency = step == 0 ? made.latency + move.opening : made.latency;
  if (move.streams && !is_first) latency = {};
  const TaskProgress& task = own.tasks[move.task_of(made, step) - move.first_task];
  if (task.begun) latency = step % move.steps_of_task == 0 ? task.latency : Seconds();
  const double left = 1.0 - std::exchange(own.part_done[copy], 0.0);
  own.under_way[copy] = true;
  starts_.push_back({.move = static_cast<std::uint32_t>(number),
                     .copy = copy,
                     .amount = move.bytes * (made.weight * left),
                     .latency = std::max(Seconds(), latency)});
}

void Steps::finish(std::uint32_t number, std::uint32_t copy) {
  Move& own = moves_[number];
  const SteppedMove& move = exchange_.moves[number];
  const StepCopy& made = move.pattern->copies()[copy];
  const std::uint32_t step = own.next[copy]++;
  own.under_way[copy] = false;
  const std::uint32_t task = move.task_of(made, step);
  if (--own.copies[task - move.first_task] == 0) ended_.push_back(task);
  for (const std::uint32_t rank : {made.from, made.to}) {
    const std::size_t place = made.strand * move.pattern->ranks() + rank;
    if (own.step[place] == step && --own.missing[place] == 0) advance(number, made.strand, rank);
  }
}

void Steps::rank_over(std::size_t number, std::uint32_t rank) {
  for (const std::uint32_t follower : moves_[number].followers) {
    if (--moves_[follower].before[rank] == 0 && takes_part(*exchange_.moves[follower].pattern, rank))
      enter(follower, rank);
  }
}

}  // namespace gpuscale

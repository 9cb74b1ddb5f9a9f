#include "execution/stepping.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace gpuscale {

namespace {

/// Rates that differ by less are taken as equal.
constexpr double kSame = 1e-9;

/// The channels that hold a transfer alone, ascending.
std::vector<ChannelId> slowest_alone(std::span<const ChannelLoad> loads, std::span<const Channel> channels) {
  const auto alone = [&](const ChannelLoad& load) { return channels[load.channel.index()].rate / load.weight; };
  std::vector<ChannelId> slowest;
  const BytesPerSecond least = std::ranges::min(loads | std::views::transform(alone));
  for (const ChannelLoad& load : loads) {
    if (alone(load) <= least * (1.0 + kSame)) slowest.push_back(load.channel);
  }
  std::ranges::sort(slowest);
  return slowest;
}

}  // namespace

Stepping::Stepping(const Plan& plan) : plan_(plan) {
  if (plan.stepped().empty()) return;
  exchange_of_.assign(plan.size(), kNone);
  for (const SteppedTasks& tasks : plan.stepped()) {
    const auto number = static_cast<std::uint32_t>(exchanges_.size());
    for (const SteppedMove& move : tasks.steps->moves)
      std::fill_n(exchange_of_.begin() + static_cast<std::ptrdiff_t>(tasks.first.index() + move.first_task),
                  move.task_count(), number);
    exchanges_.push_back({.coupled = tasks, .tasks = std::vector<OneTask>(tasks.steps->tasks)});
  }
}

Stepping::OneTask& Stepping::state(TaskId task) {
  Exchange& exchange = exchanges_[exchange_of(task)];
  return exchange.tasks[task.index() - exchange.coupled.first.index()];
}

bool Stepping::is_stepped(TaskId task) const {
  const std::uint32_t exchange = exchange_of(task);
  return exchange != kNone && exchanges_[exchange].steps != nullptr;
}

void Stepping::begin(TaskId task, Time flows_at) {
  if (exchange_of(task) == kNone) return;
  OneTask& own = state(task);
  own.begun = true;
  own.flows_at = flows_at;
  Exchange& exchange = exchanges_[exchange_of(task)];
  if (exchange.steps == nullptr) return;
  exchange.steps->begin(static_cast<std::uint32_t>(task.index() - exchange.coupled.first.index()));
  if (own.copied) exchange.ended.push_back(task);
}

void Stepping::flow(TaskId task, FlowId flow) {
  if (exchange_of(task) != kNone) state(task).flow = flow;
}

void Stepping::end(TaskId task) {
  if (exchange_of(task) != kNone) state(task).ended = true;
}

const SteppedMove& Stepping::move_of(const Exchange& exchange, std::uint32_t task) const {
  return *std::ranges::find_if(exchange.coupled.steps->moves, [task](const SteppedMove& move) {
    return task >= move.first_task && task < move.first_task + move.task_count();
  });
}

bool Stepping::would_part(TaskId task, const FlowModel& flows, std::span<const Channel> channels) const {
  const std::uint32_t number = exchange_of(task);
  const Exchange& exchange = exchanges_[number];
  const auto place = static_cast<std::uint32_t>(task.index() - exchange.coupled.first.index());
  const FlowId flow = *exchange.tasks[place].flow;
  const BytesPerSecond rate = flows.rate(flow);
  if (rate >= plan_.task(task).cap * (1.0 - kSame)) return false;
  const auto is_foreign = [&](std::uint32_t tag) {
    return (tag < plan_.size() ? exchange_of(TaskId(tag)) : copies_[tag - plan_.size()].exchange) != number;
  };
  if (plan_.loads(task).empty() || !flows.meets(flow, is_foreign)) return false;
  const std::vector<ChannelId> slowest = slowest_alone(plan_.loads(task), channels);
  const SteppedMove& move = move_of(exchange, place);
  const std::size_t part = (place - move.first_task) % move.pattern->parts();
  return std::ranges::any_of(move.pattern->copies(), [&](const StepCopy& copy) {
    if (copy.part != part) return false;
    const std::span<const ChannelLoad> own = move.pattern->loads(copy);
    return std::ranges::any_of(
               own, [&](const ChannelLoad& load) { return std::ranges::binary_search(slowest, load.channel); }) &&
           std::ranges::none_of(own, [&](const ChannelLoad& load) { return flows.holds(load.channel, rate); });
  });
}

std::vector<TaskId> Stepping::take_apart(std::uint32_t number, Time now, FlowModel& flows) {
  Exchange& exchange = exchanges_[number];
  std::vector<TaskProgress> progress;
  std::vector<TaskId> waiting;
  for (std::size_t i = 0; i < exchange.tasks.size(); ++i) {
    OneTask& own = exchange.tasks[i];
    const TaskId task(exchange.coupled.first.index() + i);
    TaskProgress& so_far = progress.emplace_back();
    so_far.begun = own.begun;
    if (own.ended) so_far.done = 1.0;
    if (!own.begun || own.ended) continue;
    if (own.flow) {
      so_far.done = 1.0 - flows.stop(now, *own.flow) / plan_.task(task).amount;
    } else {
      waiting.push_back(task);
      so_far.latency = std::max(Seconds(), own.flows_at - now);
    }
  }
  exchange.steps = std::make_unique<Steps>(*exchange.coupled.steps, progress);
  return waiting;
}

std::vector<Stepping::Copy> Stepping::take_starts(std::uint32_t exchange) {
  std::vector<Copy> starts;
  for (const Steps::Start& start : exchanges_[exchange].steps->take_starts()) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(copies_.size()));
      copies_.emplace_back();
    }
    starts.push_back({.number = free_.back(), .latency = start.latency});
    free_.pop_back();
    copies_[starts.back().number] = {exchange, start.move, start.copy, start.amount};
  }
  return starts;
}

const StepPattern& Stepping::pattern(const UnderWay& copy) const {
  return *exchanges_[copy.exchange].coupled.steps->moves[copy.move].pattern;
}

const StepCopy& Stepping::copy(std::uint32_t number) const {
  return pattern(copies_[number]).copies()[copies_[number].copy];
}

std::span<const ChannelLoad> Stepping::loads(std::uint32_t number) const {
  return pattern(copies_[number]).loads(copy(number));
}

std::uint32_t Stepping::finish(std::uint32_t number) {
  const UnderWay copy = copies_[number];
  free_.push_back(number);
  exchanges_[copy.exchange].steps->finish(copy.move, copy.copy);
  return copy.exchange;
}

std::vector<TaskId> Stepping::take_ended(std::uint32_t number) {
  Exchange& exchange = exchanges_[number];
  for (const std::uint32_t place : exchange.steps->take_ended()) {
    exchange.tasks[place].copied = true;
    if (exchange.tasks[place].begun) exchange.ended.emplace_back(exchange.coupled.first.index() + place);
  }
  return std::exchange(exchange.ended, {});
}

}  // namespace gpuscale

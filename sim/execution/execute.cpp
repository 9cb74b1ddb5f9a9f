#include "execution/execute.hpp"

#include <algorithm>
#include <vector>

#include "engine/event_queue.hpp"
#include "engine/run.hpp"
#include "execution/gates.hpp"
#include "execution/lanes.hpp"
#include "execution/stepping.hpp"
#include "network/flow_model.hpp"
#include "units/check.hpp"
#include "units/sort_unique.hpp"

namespace gpuscale {

namespace {

enum class EventKind : std::uint32_t { work_done, transfer_starts, network_wakes };

struct Event {
  EventKind kind;
  std::uint32_t subject;     ///< task, or beyond those a copy of an exchange; unused for network_wakes
  std::uint32_t generation;  ///< an event of an older generation is void
};

std::vector<BytesPerSecond> rates_of(std::span<const Channel> channels) {
  std::vector<BytesPerSecond> rates;
  rates.reserve(channels.size());
  for (const Channel& channel : channels) rates.push_back(channel.rate);
  return rates;
}

/// The channels that a plan loads, ascending.
std::vector<ChannelId> channels_of(const Plan& plan) {
  std::vector<ChannelId> channels;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    if (!plan.task(TaskId(i)).is_transfer) continue;
    for (const ChannelLoad& load : plan.loads(TaskId(i))) channels.push_back(load.channel);
  }
  sort_unique(channels);
  return channels;
}

std::vector<BytesPerSecond> rates_of(std::span<const Channel> channels, std::span<const ChannelId> used) {
  std::vector<BytesPerSecond> rates;
  rates.reserve(used.size());
  for (const ChannelId channel : used) rates.push_back(channels[channel.index()].rate);
  return rates;
}

/// The state of a run. Events come from the queue; each handler moves tasks on.
class Execution {
 public:
  Execution(const Plan& plan, const Topology& topology)
      : plan_(plan),
        channels_(topology.channels()),
        channel_count_(topology.channels().size()),
        flows_(rates_of(topology.channels())),
        lanes_(plan),
        gates_(plan),
        stepping_(plan),
        waiting_for_(plan.size()) {
    timeline_.tasks.resize(plan.size());
  }

  /// Knows these channels only, which have to be all that the plan loads; the timeline then has no channels.
  /// \pre the plan has no exchanges that can be worked step by step
  Execution(const Plan& plan, const Topology& topology, std::vector<ChannelId> used)
      : plan_(plan),
        channels_(topology.channels()),
        channel_count_(0),
        flows_(rates_of(topology.channels(), used)),
        lanes_(plan),
        gates_(plan),
        stepping_(plan),
        waiting_for_(plan.size()),
        used_(std::move(used)) {
    timeline_.tasks.resize(plan.size());
  }

  Timeline run() {
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      waiting_for_[i] = plan_.requirement_count(TaskId(i));
    }
    for (std::size_t i = 0; i < plan_.size(); ++i) {
      if (plan_.requirement_count(TaskId(i)) == 0) make_ready(TaskId(i), Time(), TaskId());
    }
    end_of_instant(Time());
    gpuscale::run(queue_, *this);
    check(done_ == plan_.size(), "every task of a plan runs");
    note_channels();
    return std::move(timeline_);
  }

  void handle(Time now, const Event& event) {
    switch (event.kind) {
      case EventKind::work_done:
        if (event.generation == lanes_.generation(TaskId(event.subject))) finish_work(TaskId(event.subject), now);
        return;
      case EventKind::transfer_starts:
        if (event.subject >= plan_.size()) {
          start_copy(event.subject, now);
        } else {
          start_flow(TaskId(event.subject), now);
        }
        return;
      case EventKind::network_wakes:
        if (event.generation == network_generation_) finish_flows(now);
        return;
    }
  }

  void end_of_instant(Time now) {
    flows_.settle(now);
    take_apart(now);
    const Time next = flows_.next_completion();
    if (next == kNever && flows_.active() > 0) throw RunTooLong();
    if (next == announced_ || next == kNever) return;
    announced_ = next;
    push(next, {EventKind::network_wakes, 0, ++network_generation_});
  }

 private:
  void push(Time time, Event event) {
    if (time >= Time::last()) throw RunTooLong();
    queue_.push(time, event);
  }

  void make_ready(TaskId id, Time now, TaskId because_of) {
    const Task& task = plan_.task(id);
    if (task.is_transfer) {
      begin(id, now, because_of);
      stepping_.begin(id, now.after(task.duration));
      if (stepping_.is_stepped(id)) {
        change_speed(id, now, 1);
        go_on(stepping_.exchange_of(id), now);
        return;
      }
      push(now.after(task.duration), {EventKind::transfer_starts, static_cast<std::uint32_t>(id.index()), 0});
    } else if (passes_gate(id) ? gates_.enqueue(id) : lanes_.enqueue(id)) {
      begin_work(id, now, because_of);
    } else {
      timeline_.tasks[id.index()].blocker = because_of;  // stands if the lane does not make it wait longer
    }
  }

  [[nodiscard]] bool passes_gate(TaskId id) const { return plan_.task(id).pass != Task::kNoPass; }

  void begin(TaskId id, Time now, TaskId because_of) {
    timeline_.tasks[id.index()].start = now;
    timeline_.tasks[id.index()].blocker = because_of;
  }

  void begin_work(TaskId id, Time now, TaskId because_of) {
    begin(id, now, because_of);
    announce(id, lanes_.begin(id, now));
  }

  void announce(TaskId id, Time end) {
    push(end, {EventKind::work_done, static_cast<std::uint32_t>(id.index()), lanes_.generation(id)});
  }

  void finish_work(TaskId id, Time now) {
    const TaskId next = lanes_.finish(id);
    finish(id, now);
    if (next.valid()) begin_work(next, now, id);
    if (!passes_gate(id)) return;
    for (const TaskId entering : gates_.finish(id)) begin_work(entering, now, id);
  }

  void start_flow(TaskId id, Time now) {
    if (stepping_.is_stepped(id)) return;  // its copies are under way
    const Task& task = plan_.task(id);
    change_speed(id, now, 1);
    if (task.amount.count() <= 0 || (task.load_count == 0 && task.cap.count() == kUnlimited)) {
      end_transfer(id, now);
      return;
    }
    const FlowId flow = flows_.start(now, loads_of(id), task.amount, static_cast<std::uint32_t>(id.index()), task.cap);
    stepping_.flow(id, flow);
    if (stepping_.exchange_of(id) != Stepping::kNone) flowing_.push_back(id);
  }

  /// Exchanges whose copies would not go at one pace from now on are worked copy by copy.
  void take_apart(Time now) {
    if (!stepping_.any()) return;
    for (;;) {
      for (const RateSolver::Member& change : flows_.changed()) {
        const std::uint32_t tag = flows_.tag(FlowId(change.flow));
        if (tag < plan_.size() && stepping_.exchange_of(TaskId(tag)) != Stepping::kNone) flowing_.emplace_back(tag);
      }
      sort_unique(flowing_);
      std::vector<std::uint32_t> parting;
      for (const TaskId id : flowing_) {
        if (stepping_.is_stepped(id) || !stepping_.would_part(id, flows_, channels_)) continue;
        parting.push_back(stepping_.exchange_of(id));
      }
      sort_unique(parting);
      for (const std::uint32_t exchange : parting) {
        for (const TaskId waiting : stepping_.take_apart(exchange, now, flows_)) change_speed(waiting, now, 1);
      }
      flowing_.clear();
      if (parting.empty()) return;
      for (const std::uint32_t exchange : parting) go_on(exchange, now);
      flows_.settle(now);
    }
  }

  /// Starts what copies of an exchange may start, and ends what tasks they make up.
  void go_on(std::uint32_t exchange, Time now) {
    for (const Stepping::Copy& copy : stepping_.take_starts(exchange)) {
      const auto subject = static_cast<std::uint32_t>(plan_.size() + copy.number);
      if (copy.latency.count() > 0) {
        push(now.after(copy.latency), {EventKind::transfer_starts, subject, 0});
      } else {
        start_copy(subject, now);
      }
    }
    for (const TaskId ended : stepping_.take_ended(exchange)) end_transfer(ended, now);
  }

  void start_copy(std::uint32_t subject, Time now) {
    const auto number = static_cast<std::uint32_t>(subject - plan_.size());
    const std::span<const ChannelLoad> loads = stepping_.loads(number);
    const BytesPerSecond cap = stepping_.copy(number).cap;
    const bool at_once = loads.empty() && cap.count() == kUnlimited;
    flows_.start(now, loads, at_once ? Bytes() : stepping_.amount(number), subject, cap);
  }

  std::span<const ChannelLoad> loads_of(TaskId id) {
    if (used_.empty()) return plan_.loads(id);
    renumbered_.clear();
    for (const ChannelLoad& load : plan_.loads(id)) {
      const auto place = std::ranges::lower_bound(used_, load.channel) - used_.begin();
      renumbered_.push_back({ChannelId(static_cast<std::size_t>(place)), load.weight});
    }
    return renumbered_;
  }

  void finish_flows(Time now) {
    announced_ = kNever;
    finished_.clear();
    flows_.finish(now, finished_);
    for (const std::uint32_t subject : finished_) {
      if (subject < plan_.size()) {
        end_transfer(TaskId(subject), now);
      } else {
        go_on(stepping_.finish(static_cast<std::uint32_t>(subject - plan_.size())), now);
      }
    }
  }

  void end_transfer(TaskId id, Time now) {
    change_speed(id, now, -1);
    stepping_.end(id);
    finish(id, now);
  }

  /// Slows the lanes of a transfer's GPUs while it moves, or gives them their speed back.
  void change_speed(TaskId transfer, Time now, int direction) {
    for (const LaneId lane : plan_.slowed_lanes(transfer)) {
      const TaskId running = lanes_.change_slowdown(lane, plan_.task(transfer).slowdown, direction, now);
      if (running.valid()) announce(running, lanes_.end_of(running));
    }
  }

  void finish(TaskId id, Time now) {
    timeline_.tasks[id.index()].end = now;
    timeline_.end = std::max(timeline_.end, now);
    ++done_;
    for (const TaskId successor : plan_.successors(id)) {
      if (--waiting_for_[successor.index()] == 0) make_ready(successor, now, id);
    }
  }

  void note_channels() {
    timeline_.channels.reserve(channel_count_);
    for (std::size_t i = 0; i < channel_count_; ++i) {
      timeline_.channels.push_back({flows_.carried(ChannelId(i)), flows_.busy_time(ChannelId(i))});
    }
  }

  static constexpr double kUnlimited = std::numeric_limits<double>::infinity();

  const Plan& plan_;
  std::span<const Channel> channels_;
  std::size_t channel_count_;
  FlowModel flows_;
  Lanes lanes_;
  Gates gates_;
  Stepping stepping_;
  EventQueue<Event> queue_;
  std::vector<std::uint32_t> waiting_for_;
  std::vector<std::uint32_t> finished_;
  std::vector<TaskId> flowing_ = {};  ///< of exchanges that can be worked step by step, with a rate of this instant
  std::vector<ChannelId> used_ = {};  ///< empty: all
  std::vector<ChannelLoad> renumbered_ = {};  ///< of the flow that starts
  Time announced_ = kNever;
  std::uint32_t network_generation_ = 0;
  std::size_t done_ = 0;
  Timeline timeline_;
};

}  // namespace

Timeline execute(const Plan& plan, const Topology& topology) { return Execution(plan, topology).run(); }

Seconds plan_time(const Plan& plan, const Topology& topology) {
  std::vector<ChannelId> used = channels_of(plan);
  if (used.empty() || !plan.stepped().empty()) return execute(plan, topology).end.since_start();
  return Execution(plan, topology, std::move(used)).run().end.since_start();
}

}  // namespace gpuscale

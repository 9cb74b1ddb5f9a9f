#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "execution/steps.hpp"
#include "network/flow_model.hpp"
#include "plan/plan.hpp"
#include "topology/topology.hpp"
#include "units/time.hpp"

namespace gpuscale {

/// The exchanges of a plan that can be worked step by step: how far their tasks have come, and when their copies would
/// not go at one pace any more.
///
/// A transfer stands for copies, each of which may be held by another channel. Alone it goes at the pace of the slowest
/// of them, and so do all others, which wait for those. That stays true as long as all of these slowest ones are
/// held, be it by traffic of others that meets them alike. Once one of them could go faster, ranks would run ahead of
/// each other: from then on the exchange is worked copy by copy.
class Stepping {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  /// \pre the plan outlives it
  explicit Stepping(const Plan& plan);

  /// Whether there is any such exchange.
  [[nodiscard]] bool any() const { return !exchanges_.empty(); }
  /// The exchange that a task moves bytes of, or kNone.
  [[nodiscard]] std::uint32_t exchange_of(TaskId task) const { return any() ? exchange_of_[task.index()] : kNone; }
  /// Whether a task is of an exchange that is worked copy by copy by now.
  [[nodiscard]] bool is_stepped(TaskId task) const;

  /// A task has begun; its bytes move from `flows_at` on, if it is not stepped.
  void begin(TaskId task, Time flows_at);
  void flow(TaskId task, FlowId flow);
  void end(TaskId task);

  /// Whether traffic that is not of its exchange would part the copies of a transfer. \pre the rates are settled and it
  /// flows as one
  [[nodiscard]] bool would_part(TaskId task, const FlowModel& flows, std::span<const Channel> channels) const;

  /// Stops the flows of an exchange to go on copy by copy. \returns tasks that were waiting for their latency
  std::vector<TaskId> take_apart(std::uint32_t exchange, Time now, FlowModel& flows);

  /// A copy that may start; `number` is its own until it has ended.
  struct Copy {
    std::uint32_t number = 0;
    Seconds latency = {};
  };
  std::vector<Copy> take_starts(std::uint32_t exchange);
  [[nodiscard]] const StepCopy& copy(std::uint32_t number) const;
  [[nodiscard]] std::span<const ChannelLoad> loads(std::uint32_t number) const;
  [[nodiscard]] Bytes amount(std::uint32_t number) const { return copies_[number].amount; }
  /// \returns its exchange
  std::uint32_t finish(std::uint32_t number);
  /// Tasks that have ended, as all their copies have and they have begun.
  std::vector<TaskId> take_ended(std::uint32_t exchange);

 private:
  struct OneTask {
    bool begun = false;
    bool ended = false;
    bool copied = false;  ///< all its copies have ended
    Time flows_at;
    std::optional<FlowId> flow = {};
  };
  struct Exchange {
    SteppedTasks coupled;
    std::vector<OneTask> tasks;
    std::unique_ptr<Steps> steps = {};
    std::vector<TaskId> ended = {};  ///< begun and copied, since they were taken last
  };
  struct UnderWay {
    std::uint32_t exchange = 0;
    std::uint32_t move = 0;
    std::uint32_t copy = 0;
    Bytes amount = {};
  };

  [[nodiscard]] OneTask& state(TaskId task);
  [[nodiscard]] const SteppedMove& move_of(const Exchange& exchange, std::uint32_t task) const;
  [[nodiscard]] const StepPattern& pattern(const UnderWay& copy) const;

  const Plan& plan_;
  std::vector<std::uint32_t> exchange_of_ = {};  ///< by task
  std::vector<Exchange> exchanges_ = {};
  std::vector<UnderWay> copies_ = {};  ///< by number
  std::vector<std::uint32_t> free_ = {};
};

}  // namespace gpuscale

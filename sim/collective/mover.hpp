#pragma once

#include <memory>
#include <optional>

#include "collective/exchange.hpp"
#include "collective/pattern.hpp"
#include "collective/rank_group.hpp"
#include "plan/plan.hpp"
#include "plan/stepped.hpp"

namespace gpuscale {

/// What a move has beside its bytes.
struct MoveCost {
  bool opens = false;       ///< it is the first of its exchange: pays the call and the protocol's start
  Bytes own = {};           ///< of a rank's own part, copied in place of travelling
  Seconds extra = {};       ///< such as codec work where pieces meet
  std::size_t at_once = 1;  ///< ranks that each rank sends to at the same time
  bool lock_step = false;   ///< no rank begins a step before all have finished the one before
  bool overlaps = false;    ///< other moves of the exchange use its links between its steps
  bool one_pace = false;    ///< ranks that have nothing to do with each other move at one pace too
};

/// Whether anything else is in the plan of an exchange. Alone, its tasks name only the channels that can hold it and no
/// lanes of ranks, which is all that its time depends on.
enum class Company { none, others };

/// Turns the moves of an algorithm into tasks, as one coupled transfer for the ranks that wait for each other or with
/// every step of every rank a flow of its own. An algorithm is written once, against this.
class Mover {
 public:
  Mover(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange, Protocol protocol,
        Company company = Company::others)
      : plan_(plan), group_(group), exchange_(exchange), protocol_(protocol), company_(company) {
    const bool coupled = exchange.fidelity == Fidelity::coupled;
    if (coupled && company == Company::others && plan.keeps_steps()) steps_.emplace();
  }

  [[nodiscard]] const RankGroup& group() const { return group_; }
  [[nodiscard]] PlanBuilder& plan() const { return plan_; }
  [[nodiscard]] Protocol protocol() const { return protocol_; }

  /// `steps` times over, every leg moves `bytes` times its weight; a rank passes on what it received, once it has
  /// also sent the step before. \returns per rank, the task after which its last step is over; ranks in no leg
  /// keep theirs
  RankTasks move(const GroupPattern& pattern, std::size_t steps, Bytes bytes, const RankTasks& ready,
                 const MoveCost& cost = {});
  /// Channels of legs one behind the other pass on `bytes` in equal chunks, a leg working while the next does.
  RankTasks pass_along(const GroupPattern& lines, Bytes bytes, const RankTasks& ready, const MoveCost& cost = {});
  /// Sums or gatherings in switches, of `bytes` a rank, which take `steps` steps of their link type.
  RankTasks move(const SwitchWays& ways, const SwitchShares& shares, Bytes bytes, double steps, const RankTasks& ready,
                 const MoveCost& cost);

  /// Ends the exchange: gives the plan its moves step by step, if they are few enough to be worked so.
  void finish();

  /// How fast a pattern moves alone, per byte of the pattern.
  [[nodiscard]] BytesPerSecond pace(const GroupPattern& pattern) const;
  [[nodiscard]] BytesPerSecond pace(const SwitchWays& ways, const SwitchShares& shares) const;
  /// The slowest step of a pattern.
  [[nodiscard]] Seconds step(const GroupPattern& pattern) const;
  /// The number of equal chunks in which `fill` further steps of a pipeline cost least: a power of two, so
  /// that chunks stay round.
  [[nodiscard]] std::size_t chunks(Seconds step, BytesPerSecond pace, Bytes bytes, double fill) const;

 private:
  [[nodiscard]] const Hops& hops_of(const GroupPattern& pattern) const;
  [[nodiscard]] Hops hops_of(const SwitchWays& ways, const SwitchShares& shares) const;
  /// The rank computes slower while the transfer moves, if it computes at all.
  void slow(Transfer& transfer, const Participant& rank) const;
  Seconds opening(const Hops& hops, Seconds latency, const MoveCost& cost) const;
  Transfer transfer(const Hops& hops, Bytes bytes, Seconds latency) const;
  RankTasks move_coupled(const GroupPattern& pattern, std::size_t steps, Bytes bytes, const RankTasks& ready,
                         const MoveCost& cost);
  /// The parts of a move side by side, some steps at once.
  RankTasks move_parts(const GroupPattern& pattern, std::span<const GroupPattern> parts, std::size_t steps, Bytes bytes,
                       const RankTasks& ready, const MoveCost& cost);
  RankTasks move_stepwise(const GroupPattern& pattern, std::size_t steps, Bytes bytes, const RankTasks& ready,
                          const MoveCost& cost);
  /// What has a pace of its own in a coupled move: the parts of the pattern if they are few, else all of it.
  [[nodiscard]] std::span<const GroupPattern> paced_parts(const GroupPattern& pattern, const MoveCost& cost) const;
  [[nodiscard]] Seconds latency_of(const GroupPattern& pattern, std::size_t steps, const MoveCost& cost) const;
  /// What the first step of a move takes beside latencies of copies.
  [[nodiscard]] Seconds first_opening(const GroupPattern& pattern, std::size_t steps, const MoveCost& cost) const;
  /// What each rank sent and received in a step becomes what it waits for; in lock step, what all did.
  void pass_on(const std::vector<RankTasks>& settled, RankTasks& before, bool lock_step);
  /// Of a single copy of a pattern, whose pace it does not exceed.
  [[nodiscard]] Hops hops_of(const Leg& leg, const Hops& pattern) const;
  TaskId add_leg(const Leg& leg, const Hops& hops, Bytes bytes, Seconds extra, std::span<const TaskId> after);

  /// Notes what the transfers from `first` on, of so many parts and steps at once, are step by step.
  /// \param move what it costs
  void note_steps(const GroupPattern& pattern, TaskId first, std::size_t parts, std::size_t at_once,
                  const MoveCost& cost, SteppedMove move);
  /// \param lines whether copies of a channel begin one after the other
  [[nodiscard]] std::shared_ptr<const StepPattern> steps_of(const GroupPattern& pattern, std::size_t parts,
                                                            bool lines) const;
  /// The exchange stays as it is: it has a move that no rank goes ahead in, or is not done in steps at all.
  void stay_coupled() { steps_.reset(); }

  PlanBuilder& plan_;
  const RankGroup& group_;
  const Exchange& exchange_;
  Protocol protocol_;
  Company company_;
  std::optional<SteppedExchange> steps_;  ///< so far; nothing if they are not kept
  TaskId first_ = {};                     ///< task of a move
  std::size_t copies_ = 0;                ///< of all moves
};

/// The bytes of the heaviest leg for each byte of a pattern.
double heaviest_leg(const Pattern& pattern);

/// Counts a coupled transfer in the bytes of its heaviest leg, so that on a link beside others it has the share
/// of as many flows as it has legs there, as step by step. Alone it takes the same time.
void share_by_leg(Transfer& whole, double leg);

/// Per rank, the task at which all of several are done. Ranks in the same coupled transfers have the same.
RankTasks join_ranks(PlanBuilder& plan, const std::vector<RankTasks>& several);

/// The longest way that data takes over `steps` copies of a pattern, legs costing what `costs` says in order.
Seconds longest_walk(const Pattern& pattern, std::span<const Seconds> costs, std::size_t ranks, std::size_t steps);

}  // namespace gpuscale

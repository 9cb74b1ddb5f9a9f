#pragma once

/// \file
/// What the passes of build_plan share while a step grows. Internal to sim/parallel.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "collective/exchange.hpp"
#include "parallel/build_plan.hpp"
#include "parallel/group_exchanges.hpp"
#include "parallel/job.hpp"
#include "parallel/layer_times.hpp"
#include "parallel/stages.hpp"
#include "parallel/tied_tables.hpp"
#include "plan/plan.hpp"
#include "topology/cards.hpp"
#include "topology/cluster.hpp"
#include "workload/layer_work.hpp"

namespace gpuscale {

/// Ranks that do the same at the same time: where they work and what they did last.
struct Role {
  int stage = 0;
  std::size_t kind = 0;  ///< of StepBuilder::kinds
  Participant self = {};
  LaneId host = {};
  double host_pace = 1.0;     ///< on the framework's host costs
  bool hosts_itself = false;  ///< its host does not run ahead: it is the card
  TaskId last = {};           ///< the latest task of their own chain
  TaskId begun = {};          ///< after which their host issues what it does in the step at hand
};

/// Which ranks exchange with each other.
enum class GroupKind {
  tensor,           ///< those that divide layers
  context,          ///< those that divide sequences
  expert,           ///< those that divide experts
  copies,           ///< those that hold the same parameters
  copies_of_whole,  ///< the same for parameters that a layer split does not divide: also its other parts
  expert_copies,    ///< those that hold the same experts
  shard,            ///< of the copies, those that share out what ZeRO divides
  shard_copies,     ///< of the copies, those that hold the same share
  everyone,
  itself,  ///< every rank alone
};

struct StepBuilder {
  const Job& job;
  const ClusterSpec& spec;
  const Cluster& cluster;
  RankGrid grid;
  BatchSizes batch;
  ModelWork work;  ///< of one pass of one rank, all stages; what ranks exchange is of this size
  std::vector<KindOfRank> kinds = {};
  std::vector<std::size_t> kind_of_rank = {};
  std::vector<ModelPart> parts = {};
  std::int64_t passes = 1;  ///< microbatches or sub-batches of a step
  /// Layers before a layer split, which each rank computes once a step for its own part of the batch.
  std::size_t undivided = 0;
  int shard = 1;  ///< ranks among which ZeRO shares out

  PlanBuilder plan = {};
  std::vector<Role> roles = {};
  GroupExchanges exchanges;
  /// By exchange of a step and layer: per role, the task after which the layer's gradient is complete.
  std::vector<std::vector<RankTasks>> gradient_ready = {};
  /// Where weights of a step before still travel: by layer and role, the task after which they are there.
  std::vector<RankTasks> weights_ready = {};
  std::map<int, GateId> gates = {};  ///< by stage: the credit of its exchanges
  /// By rank, the door through which whole tensors leave it, one at a time; made when they first do.
  std::vector<GateId> copy_doors = {};
  /// Of boxes with servers beside the workers, made as those doors: the worker's processor of each node, then the
  /// first server of each, the second...
  std::vector<LaneId> server_lanes = {};
  PlannedStep result = {};
  std::vector<TiedTable> tied = {};  ///< tables that several stages hold
  std::map<std::vector<int>, GroupSetId> sets = {};
  mutable std::map<GroupKind, std::size_t> group_sizes = {};  ///< asked for at every exchange

  /// The groups of a kind on one stage; made once.
  GroupSetId groups(GroupKind kind, int stage);
  /// Ranks that differ in the stage only, one of each of these stages, in this order.
  GroupSetId across_stages(const std::vector<int>& stages);
  [[nodiscard]] std::size_t group_size(GroupKind kind) const;
  /// The same groups as ranks on lanes of the plan itself. \pre every rank has a role of its own
  [[nodiscard]] std::vector<std::pair<Members, RankGroup>> unfolded_groups(GroupKind kind, int stage);

  /// Roles of a stage, by their numbers.
  [[nodiscard]] std::vector<std::size_t> roles_of(int stage) const;
  /// What a layer costs a role in a pass.
  [[nodiscard]] const LayerTime& time(std::size_t role, std::size_t layer) const {
    return kinds[roles[role].kind].times[layer];
  }
  /// The card of a role.
  [[nodiscard]] const Gpu& gpu(std::size_t role) const { return card(spec, kinds[roles[role].kind].kind.card); }
  /// The kinds of the ranks of a stage.
  [[nodiscard]] std::set<std::size_t> kinds_of(int stage) const;
  /// By role, the latest task of each.
  [[nodiscard]] RankTasks last() const;

  /// All groups of a kind on a stage do one collective; `ready` and the result by role.
  RankTasks collective(GroupKind kind, int stage, Collective what, ExchangeAlgorithm algorithm,
                       const Exchange& exchange, const RankTasks& ready) {
    return collective(groups(kind, stage), what, algorithm, exchange, ready);
  }
  RankTasks collective(GroupSetId set, Collective what, ExchangeAlgorithm algorithm, const Exchange& exchange,
                       const RankTasks& ready);
  /// An exchange with the framework's software cost and these labels.
  [[nodiscard]] Exchange exchange_of(Bytes size, std::string_view what, CodecKind codec);

  /// Notes what a rank of a stage sends for a purpose in an exchange of `size` bytes, `share` times.
  void note_sent(std::string_view purpose, int stage, const Exchange& exchange, double share);
  void note_sent(std::string_view purpose, int stage, Bytes encoded, Bytes plain, double share);
};

/// One GPU's operators of one layer: the host issues, the GPU computes when it is issued and what it
/// requires is done. \returns the task after which they are done
TaskId add_layer_work(StepBuilder& step, const Role& role, Seconds host, Seconds compute, std::uint32_t label,
                      TaskId after);

/// As many steps as show what one takes: several where an exchange closes several or runs on beside the next.
void add_steps(StepBuilder& step);

/// The forward and backward passes of every rank, microbatch by microbatch and stage by stage, with what divided
/// layers exchange. Fills gradient_ready.
void add_forward_and_backward(StepBuilder& step);

/// Exchanges the gradients between copies of the model, in the framework's pieces. Each role's last
/// task becomes the one after which it holds all sums it needs.
void add_gradient_exchange(StepBuilder& step);

/// The same, the layers nearest the input first: each layer is updated when its pieces are there, and the next step
/// waits for it there, in `weights_ready`. Each role's last task stays that of its passes.
void add_priority_exchange(StepBuilder& step);

/// Sums the gradients of tables that several stages hold, once all else is summed.
void add_tied_sums(StepBuilder& step);

/// The update of the weights on every GPU that does one; where it was shared out, the new weights are gathered.
void add_optimizer_step(StepBuilder& step);

/// The update of the layers from the first split one on after a sub-batch. \returns by role, the task after which it is
/// done
RankTasks add_split_update(StepBuilder& step, const RankTasks& now);

/// The update of one layer of a stage, on each of its roles after `summed`. \returns by role, when it is done
RankTasks add_layer_update(StepBuilder& step, int stage, std::size_t layer, const RankTasks& summed);

/// How the framework's servers of several boxes work, where the job has both.
std::optional<BoxServers> box_servers_of(const StepBuilder& step);

/// How many boxes have a GPU of the job.
std::size_t boxes_in_use(const StepBuilder& step);

/// Whether the GPU that sums a tensor also updates it, for all.
bool updates_on_owner(const StepBuilder& step);

/// Whether the weights that owners update are read at the beginning of the next step, each layer's before it computes
/// (TensorFlow's variables). Not where a step has more than one exchange or pass of them, which get them at its end.
bool reads_when_needed(const StepBuilder& step);

/// The optimizer's traffic counted in passes of an addition, which reads two numbers and writes one: what an update
/// takes on a parameter server.
double server_passes(Optimizer optimizer);

/// What the update of parameters costs a role.
struct UpdateCost {
  Seconds host = {};
  Seconds compute = {};
};
UpdateCost update_cost(const StepBuilder& step, std::size_t role, std::int64_t tensors, double parameters);

/// Which of the pieces that are ready leaves first, as the scenario asks or the framework does.
ExchangeSchedule schedule_in_force(const Job& job);

/// The parameters of all copies averaged (local SGD).
void add_parameter_average(StepBuilder& step);

/// A whole step in the manner of a one-process wrapper that keeps the parameters on GPU 0: broadcast
/// them, scatter the batch, gather the outputs, compute the loss there, add up the gradients there.
void add_gathered_step(StepBuilder& step);

/// Samples of the next step prepared and copied beside this one, once those before are (`after`): the step lasts at
/// least as long. \returns when they are there; invalid if nothing says where they come from
TaskId add_input(StepBuilder& step, TaskId after);

/// The samples of a step handed over by the framework's interpreter, and copied to each GPU. \returns by role, when
/// they are there
RankTasks add_fed_samples(StepBuilder& step, TaskId after);

/// The exchange settings in force: the scenario's, or else the framework's.
ExchangeAlgorithm algorithm_in_force(const Job& job);

/// What a rank sends of the whole tensor when so many ranks sum, scatter, gather or exchange it.
double share_sent(Collective what, double ranks);

/// How shares are summed and gathered: as the scenario asks, or else by the fastest the transport has.
ExchangeAlgorithm sharing_algorithm(const Job& job);

/// A gradient number on the wire without a codec.
Bytes gradient_number(const Job& job);

/// Layers of a stage, in model order.
std::vector<std::size_t> layers_of(const StepBuilder& step, int stage);

/// Numbers of all parameters that a rank of a stage holds.
double parameters_of(const StepBuilder& step, int stage);

}  // namespace gpuscale

#include <array>
#include <functional>

#include "collective/all_reduce.hpp"
#include "parallel/step_builder.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

/// Layers before the loss run on every rank; the loss runs on the first for the whole batch.
std::size_t loss_layer(const ModelWork& work) { return work.layers.size() - 1; }

class GatheredStep {
 public:
  explicit GatheredStep(StepBuilder& step) : step_(step), everyone_(step.groups(GroupKind::everyone, 0)) {}

  /// Every microbatch in full: the wrapper knows nothing of gradients that are kept for later.
  void add() {
    for (std::int64_t pass = 0; pass < step_.passes; ++pass) add_pass();
    step_.result.algorithm = ExchangeAlgorithm::gather;
    step_.result.exchanges = static_cast<std::size_t>(step_.passes);
  }

 private:
  void add_pass() {
    const double ranks = static_cast<double>(step_.roles.size());
    const Bytes number = activation_size(step_.job.precision);
    const auto batch = static_cast<double>(step_.work.batch);
    const Bytes parameters = number * parameter_count(step_.work);

    const TaskId start = step_.roles.front().last;
    const RankTasks scattered = hand_out(step_.exchange_of(step_.work.input * batch, "batch", CodecKind::none), start);
    continue_from(scattered);
    const TaskId all_scattered = step_.plan.join(scattered);
    make_replicas();
    const Exchange replicas = step_.exchange_of(parameters, "parameter", CodecKind::none);
    continue_from(pass_on(Collective::broadcast, replicas, RankTasks(step_.roles.size(), all_scattered)));
    add_layers(true);

    const std::size_t loss = loss_layer(step_.work);
    const Bytes output = loss > 0 ? step_.work.layers[loss - 1].output : Bytes();
    const Exchange outputs = step_.exchange_of(output, "output", CodecKind::none);
    const TaskId gathered = collect(outputs);
    Role& first = step_.roles.front();
    const LayerTime& time = step_.time(0, loss);
    const std::uint32_t label = step_.plan.label("loss of the whole batch");
    first.last =
        add_layer_work(step_, first, time.host_forward + time.host_backward, (time.forward + time.backward) * ranks,
                       label, step_.plan.join(std::array{first.last, gathered}));
    continue_from(hand_out(outputs, first.last));
    add_layers(false);

    const Exchange gradients = step_.exchange_of(parameters, "gradient", step_.job.parallel.exchange.codec);
    const TaskId summed = pass_on(Collective::reduce, gradients, step_.last()).front();
    // Down as gradients, up again as parameters of the next pass.
    step_.note_sent("gradient", 0, gradients, 2.0);
    for (Role& role : step_.roles) role.last = summed;
  }

  RankTasks exchange(const Exchange& what, std::string_view how, const GroupExchanges::Build& build,
                     const RankTasks& ready) {
    const std::string key = std::string(how) + std::to_string(what.label) + " " + std::to_string(what.size.count());
    return step_.exchanges.add(step_.plan, everyone_, key, build, ready);
  }

  /// From the first rank to every other or back, along the line of a ring (NCCL).
  RankTasks pass_on(Collective collective, const Exchange& what, const RankTasks& ready) {
    return exchange(
        what, name(collective),
        [&](PlanBuilder& plan, const RankGroup& group, const RankTasks& members) {
          return add_collective(plan, group, collective, ExchangeAlgorithm::ring, what, members);
        },
        ready);
  }

  /// The first rank's copies to every other, each of its own samples.
  RankTasks hand_out(const Exchange& what, TaskId ready) {
    return exchange(
        what, "scatter",
        [&](PlanBuilder& plan, const RankGroup& group, const RankTasks& members) {
          return add_broadcast(plan, group, what, members.front());
        },
        RankTasks(step_.roles.size(), ready));
  }

  /// Every other rank's copies to the first.
  TaskId collect(const Exchange& what) {
    const RankTasks done = exchange(
        what, "gather",
        [&](PlanBuilder& plan, const RankGroup& group, const RankTasks& members) {
          return RankTasks(group.size(), add_reduce_to_first(plan, group, what, members));
        },
        step_.last());
    return done.front();
  }

  /// The interpreter goes through the model once for each GPU, while parameters travel.
  void make_replicas() {
    std::size_t tensors = 0;
    for (const LayerWork& layer : step_.work.layers) tensors += layer.parameters.size();
    const HostCost& cost = step_.job.framework.host;
    const Seconds time = cost.replica + cost.replica_tensor * static_cast<double>(tensors);
    const std::uint32_t label = step_.plan.label("replica");
    for (Role& role : step_.roles) role.last = add_layer_work(step_, role, time, Seconds(), label, role.last);
  }

  void continue_from(const RankTasks& tasks) {
    for (std::size_t i = 0; i < step_.roles.size(); ++i) {
      step_.roles[i].last = step_.plan.join(std::array{step_.roles[i].last, tasks[i]});
    }
  }

  void add_layers(bool forward) {
    const std::size_t count = loss_layer(step_.work);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t layer = forward ? i : count - 1 - i;
      const std::uint32_t label =
          step_.plan.label(step_.work.layers[layer].name + (forward ? " forward" : " backward"));
      for (std::size_t rank = 0; rank < step_.roles.size(); ++rank) {
        const LayerTime& time = step_.time(rank, layer);
        Role& role = step_.roles[rank];
        role.last = add_layer_work(step_, role, forward ? time.host_forward : time.host_backward,
                                   forward ? time.forward : time.backward, label, role.last);
      }
    }
  }

  StepBuilder& step_;
  GroupSetId everyone_;
};

}  // namespace

void add_gathered_step(StepBuilder& step) { GatheredStep(step).add(); }

}  // namespace gpuscale

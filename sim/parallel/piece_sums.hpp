#pragma once

#include <optional>
#include <vector>

#include "collective/all_reduce.hpp"
#include "collective/exchange.hpp"
#include "parallel/buckets.hpp"
#include "parallel/node_servers.hpp"
#include "parallel/owner_sums.hpp"
#include "parallel/step_builder.hpp"

namespace gpuscale {

/// How one piece of the gradients is summed between copies of the model: by which algorithm, codec and ranks.
class PieceSums {
 public:
  explicit PieceSums(StepBuilder& step);

  /// Whether anybody has the piece as well, or a server wants it.
  [[nodiscard]] bool travels(const Bucket& bucket) const;
  [[nodiscard]] Exchange exchange_of(const Bucket& bucket);
  /// The piece on all its groups. \returns by role, when the sums it needs are there; on their server where they are
  /// pulled later
  RankTasks add(const Bucket& bucket, int stage, const Exchange& exchange, const RankTasks& ready);

  /// Whether pieces go one after the other; else each as soon as it is ready and its sender free.
  [[nodiscard]] bool in_turn() const { return !owners_ && !nodes_; }
  /// Puts the pieces of a stage in the order in which they leave, and gives them to those that sum them.
  void arrange(std::vector<Bucket>& pieces, int stage);

  /// Updated parameters are read at the beginning of the next step, all at once, by the operators that want them:
  /// nobody computes before (TensorFlow's variables).
  RankTasks add_pulls(RankTasks ready);

 private:
  struct Pull {
    GroupKind groups;
    int stage;
    Exchange exchange;
  };

  [[nodiscard]] GroupKind groups_of(const Bucket& bucket) const;
  RankTasks sum_shared_out(int stage, const Exchange& exchange, RankTasks ready);
  RankTasks gather_rows(const Bucket& bucket, int stage, Exchange exchange, const RankTasks& ready);
  RankTasks sum(const Bucket& bucket, int stage, const Exchange& exchange, const RankTasks& ready);
  RankTasks sum_by_tensor(GroupKind groups, int stage, const Exchange& exchange, const RankTasks& ready);
  [[nodiscard]] CpuServer server(const RankGroup& group) const;
  [[nodiscard]] double server_updates() const;
  void pull_later(GroupKind groups, int stage, const Exchange& exchange);
  void note_choice(GroupKind groups, int stage, const Exchange& exchange);
  void note_sum(GroupKind groups, int stage, const Exchange& exchange);
  void note(const Exchange& exchange, int stage, double share) { step_.note_sent("gradient", stage, exchange, share); }

  StepBuilder& step_;
  ExchangeAlgorithm algorithm_;
  bool pulls_later_;
  std::optional<OwnerSums> owners_ = {};   ///< where whole tensors are summed on GPUs
  std::optional<NodeServers> nodes_ = {};  ///< where every box has a server
  std::vector<Pull> pulls_ = {};
  DeviceId server_ = {};  ///< where a parameter server on the CPU keeps the parameters
  Bytes largest_ = {};    ///< of the exchanges done so far, whose algorithm the report shows
};

}  // namespace gpuscale

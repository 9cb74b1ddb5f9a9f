#pragma once

#include <map>
#include <utility>
#include <vector>

#include "parallel/buckets.hpp"
#include "parallel/step_builder.hpp"

namespace gpuscale {

/// Whole tensors, each summed on the GPU that owns it (Bucket::owner): the others copy theirs there, it adds up,
/// updates where the framework has it so, and copies the result to all. One copy at a time leaves a GPU, that of the
/// layer nearest the input first where the framework sends by priority; else the one that was ready first. Tensors of
/// different owners travel beside each other.
class OwnerSums {
 public:
  explicit OwnerSums(StepBuilder& step);

  /// On all groups of a kind. `ready` and the result by rank; where weights are read when needed, when the owner has
  /// them
  RankTasks add(const Bucket& bucket, GroupKind kind, int stage, const Exchange& exchange, const RankTasks& ready);

  /// Weights that are read when needed leave for the next step once every update of this one is done: see
  /// StepBuilder::weights_ready.
  void add_reads(const RankTasks& updated);

 private:
  using Groups = std::vector<std::pair<Members, RankGroup>>;

  /// What is still to be read of a tensor.
  struct Read {
    Bucket bucket = {};
    GroupKind kind = {};
    int stage = 0;
    Exchange exchange = {};
  };

  const Groups& groups(GroupKind kind, int stage);
  TaskId add_update(std::size_t rank, double parameters, TaskId summed);

  StepBuilder& step_;
  bool by_priority_;
  bool reads_when_needed_;
  std::map<std::pair<GroupKind, int>, Groups> groups_ = {};
  std::vector<Read> reads_ = {};
};

}  // namespace gpuscale

#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "parallel/buckets.hpp"
#include "parallel/step_builder.hpp"

namespace gpuscale {

/// Parameter servers beside the workers of each box (BoxServers; MXNet's dist_sync over ps-lite). A box sums a tensor
/// on the GPU that owns it or on its CPU, brings the sum into host memory and sends it to the servers: equal parts of a
/// large one to all, a small one whole to one. A server adds up what the boxes send, updates where the framework has
/// it so, and sends it back; the box hands it to its GPUs the way it came. All copies of one tensor that leave at the
/// same time go at one pace. A codec is for what goes up to the servers, from the GPU that has it to hand.
class NodeServers {
 public:
  explicit NodeServers(StepBuilder& step);

  /// Puts the pieces of a step in the order in which they leave, with their owners and keys.
  void arrange(std::vector<Bucket>& pieces, TensorOwner rule);
  /// On all groups of a kind. `ready` and the result by rank
  RankTasks add(const Bucket& bucket, GroupKind kind, int stage, const Exchange& exchange, const RankTasks& ready);

 private:
  /// The ranks of a group in one box.
  struct Box {
    std::vector<std::size_t> ranks = {};
    std::vector<Participant> gpus = {};
    DeviceId memory = {};
    LaneId processor = {};  ///< of the worker, where sums of the box are made on its CPU
    TaskId turn = {};       ///< after which it may begin with the next tensor
  };
  struct Group {
    std::vector<Box> boxes = {};
    std::vector<LaneId> servers = {};
  };
  struct Leg {
    DeviceId from = {};
    DeviceId to = {};
    double part = 1.0;  ///< of the tensor
  };
  /// Work of one tensor.
  struct Tensor {
    const Exchange& exchange;
    std::size_t owner = 0;
    Bytes encoded = {};                     ///< its size with the codec
    std::vector<std::size_t> servers = {};  ///< which have it; server s is in box s mod boxes
  };

  std::vector<Group>& groups(GroupKind kind, int stage);
  TaskId add_copies(const std::vector<Leg>& legs, const Tensor& tensor, Bytes amount,
                    std::span<const Participant> slowed, Seconds call, TaskId ready);
  TaskId add_encode(const Tensor& tensor, const Participant& gpu, TaskId ready);
  TaskId add_box_sum(Box& box, const Tensor& tensor, const RankTasks& ready);
  /// Between boxes: up to the servers, added up there, and back. \returns when it is in the memory of each box
  TaskId add_round(const Group& group, const Tensor& tensor, TaskId in_memory);
  void add_hand_out(const Box& box, const Tensor& tensor, TaskId ready, RankTasks& done);

  StepBuilder& step_;
  BoxServers rule_;
  bool on_gpus_;
  std::map<std::pair<GroupKind, int>, std::vector<Group>> groups_ = {};
};

}  // namespace gpuscale

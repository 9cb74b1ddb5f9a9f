#pragma once

#include <map>
#include <span>
#include <utility>
#include <vector>

#include "parallel/buckets.hpp"
#include "parallel/step_builder.hpp"

namespace gpuscale {

/// Parameter servers beside the workers of each box (BoxServers; MXNet's dist_sync over ps-lite, distributed
/// TensorFlow). A worker, the GPUs of a box or each GPU, sums a tensor on the GPU that owns it or on its CPU, brings
/// the sum into host memory and sends it to the servers: equal parts of a large one to all, a small one whole to one. A
/// server takes in what the workers send, adds it up, updates where the framework has it so, and sends it back; the
/// worker hands it to its GPUs the way it came. All copies of one tensor that leave at the same time go at one pace. A
/// codec is for what goes up to the servers, from the GPU that has it to hand.
class NodeServers {
 public:
  explicit NodeServers(StepBuilder& step);

  /// Puts the pieces of a step in the order in which they leave, with their owners and keys.
  void arrange(std::vector<Bucket>& pieces, TensorOwner rule);
  /// On all groups of a kind. `ready` and the result by rank
  RankTasks add(const Bucket& bucket, GroupKind kind, int stage, const Exchange& exchange, const RankTasks& ready);

 private:
  /// Ranks of a group that send together.
  struct Worker {
    std::vector<std::size_t> ranks = {};
    std::vector<Participant> gpus = {};
    DeviceId memory = {};
    LaneId processor = {};  ///< where its sums are made if not on a GPU
    TaskId turn = {};       ///< after which it may begin with the next tensor
  };
  struct Server {
    LaneId lane = {};
    DeviceId memory = {};
    std::size_t node = 0;
  };
  struct Group {
    std::vector<Worker> workers = {};
    std::vector<Server> servers = {};
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
    std::vector<std::size_t> servers = {};  ///< which have it
  };

  std::vector<Group>& groups(GroupKind kind, int stage);
  [[nodiscard]] Group group_of(const Members& members, const RankGroup& group) const;
  TaskId add_copies(const std::vector<Leg>& legs, const Tensor& tensor, Bytes amount,
                    std::span<const Participant> slowed, Seconds call, TaskId ready);
  TaskId add_encode(const Tensor& tensor, const Participant& gpu, TaskId ready);
  TaskId add_sum_on_gpu(const Worker& worker, const Tensor& tensor, TaskId ready);
  TaskId add_sum_on_processor(const Worker& worker, const Tensor& tensor, TaskId ready);
  TaskId add_worker_sum(Worker& worker, const Tensor& tensor, const RankTasks& ready);
  /// Up to the servers, added up there, and back. \returns when it is in the memory of each worker
  TaskId add_round(const Group& group, const Tensor& tensor, TaskId in_memory);
  /// The time in which a server packs or unpacks what all workers send to or get from it.
  [[nodiscard]] Seconds message_time(const Group& group, const Tensor& tensor, Bytes amount) const;
  void add_hand_out(const Worker& worker, const Tensor& tensor, TaskId ready, RankTasks& done);

  StepBuilder& step_;
  BoxServers rule_;
  bool on_gpus_;
  std::map<std::pair<GroupKind, int>, std::vector<Group>> groups_ = {};
};

}  // namespace gpuscale

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "parallel/step_builder.hpp"

namespace gpuscale {

/// Adds what one stage does of its part of the model for one microbatch: compute layer by layer, what divided
/// layers exchange, parameters gathered where they are shared out, activations computed again. All tasks by role;
/// those of other stages stay as they are.
class StagePasses {
 public:
  explicit StagePasses(StepBuilder& step);

  RankTasks forward(const ModelPart& part, RankTasks now);
  /// `parted`: without the gradients of the weights. `slot`: of gradient_ready
  RankTasks backward(const ModelPart& part, std::size_t slot, bool parted, RankTasks now);
  RankTasks weight_gradients(const ModelPart& part, std::size_t slot, RankTasks now);
  /// Every rank gets the activations of a sub-batch, to which each contributed its part.
  RankTasks gather_sub_batch(const ModelPart& divided, RankTasks now);

 private:
  void exchange(std::size_t layer, const std::vector<LayerExchange>& exchanges, ExchangeMoment when, bool backward,
                RankTasks& now, int stage);
  /// What a role computes of a layer, and its host to issue that.
  struct Cost {
    Seconds host;
    Seconds work;
  };
  template <class CostOf>
  void compute(const ModelPart& part, std::size_t layer, const std::vector<LayerExchange>& exchanges, bool backward,
               const CostOf& cost_of, std::uint32_t label, RankTasks& now);
  void forward_layer(const ModelPart& part, std::size_t layer, RankTasks& now);
  void backward_layer(const ModelPart& part, std::size_t layer, std::size_t slot, bool parted, RankTasks& now);
  void gradient_is_ready(const ModelPart& part, std::size_t layer, std::size_t slot, const RankTasks& now);
  RankTasks gather(const ModelPart& part, std::size_t unit, RankTasks& now);
  [[nodiscard]] bool gathers() const;
  [[nodiscard]] bool recomputed(std::size_t unit) const;
  [[nodiscard]] std::pair<std::size_t, std::size_t> units_of(const ModelPart& part) const;

  StepBuilder& step_;
  bool has_blocks_;
  std::vector<std::uint32_t> forward_labels_ = {};
  std::vector<std::uint32_t> backward_labels_ = {};
  std::vector<std::size_t> units_ = {};   ///< first layers, and the end
  RankTasks gathered_ = {};               ///< the latest gather of parameters, by role
  std::vector<RankTasks> computed_ = {};  ///< ends of units whose parameters were gathered
};

}  // namespace gpuscale

#pragma once

#include <vector>

#include "hardware/gpu.hpp"
#include "parallel/job.hpp"
#include "workload/layer_work.hpp"

namespace gpuscale {

/// What one layer costs a GPU and its host in one direction of one pass.
struct LayerTime {
  Seconds forward = {};
  Seconds backward = {};
  Seconds weight_gradients = {};  ///< part of `backward`
  Seconds scores = {};            ///< part of `forward`: attention scores, which selective recompute makes again
  Seconds alternate = {};         ///< part of `forward` in a block: what alternate recompute makes again
  Seconds host_forward = {};      ///< to issue the layer's operators
  Seconds host_backward = {};
};

/// The times of every layer of a pass on one card. Layers of one model that ask for the same kernels
/// cost the same; each kernel is looked up once.
std::vector<LayerTime> layer_times(const ModelWork& work, const Gpu& gpu, const Job& job);

}  // namespace gpuscale

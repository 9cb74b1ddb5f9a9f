#pragma once

#include <cstddef>
#include <vector>

#include "parallel/job.hpp"
#include "parallel/layer_times.hpp"
#include "workload/layer_work.hpp"

namespace gpuscale {

/// Consecutive layers that one stage works on in one pass.
struct ModelPart {
  int stage = 0;
  std::size_t first = 0;  ///< of ModelWork::layers
  std::size_t last = 0;   ///< one past the end

  bool operator==(const ModelPart&) const = default;
};

/// Runs of layers that a stage boundary, a recomputation or a gathered shard takes whole: from one layer with a
/// known boundary to before the next, where layers without parameters join the run before them.
std::vector<std::size_t> unit_starts(const ModelWork& work);

/// Times of layers by stage; one list for all stages where their GPUs are alike.
using StageTimes = std::vector<std::vector<LayerTime>>;

/// The model cut into stages x chunks parts in model order; part i belongs to stage i modulo stages. As told by
/// `split`; or equal blocks if Transformer blocks divide evenly, with what stands before and after them on
/// the first and last part, as Megatron-LM does; or else, and where stages have unlike GPUs, so that the longest part
/// is shortest. \pre there are enough places to cut: see most_parts()
std::vector<ModelPart> cut_into_parts(const ModelWork& work, const StageTimes& times, const PipelineConfig& pipeline);

/// Into how many parts a model can be cut.
std::size_t most_parts(const ModelWork& work);
/// Transformer blocks that a `split` shares out; where there are none, the units.
std::size_t block_count(const ModelWork& work);

}  // namespace gpuscale

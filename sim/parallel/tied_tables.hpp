#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "parallel/stages.hpp"
#include "workload/layer_work.hpp"

namespace gpuscale {

/// The table of an embedding that layers of several pipeline stages use, each with a copy of its own.
struct TiedTable {
  std::size_t layer = 0;         ///< of ModelWork::layers: the embedding
  std::vector<int> stages = {};  ///< that hold it, the embedding's first

  bool operator==(const TiedTable&) const = default;
};

/// Gives each stage that uses a table of another stage a copy of it, as a parameter of its first layer that does.
/// \returns the tables that were copied, in model order
std::vector<TiedTable> copy_tied_tables(ModelWork& work, std::span<const ModelPart> parts);

}  // namespace gpuscale

#pragma once

/// \file
/// What can be said about a model before any shape is known. Not for other folders.

#include <set>
#include <vector>

#include "units/diagnostic.hpp"
#include "workload/model_spec.hpp"

namespace gpuscale {

/// What a walk over the layers as written finds.
struct ModelCheck {
  std::set<const LayerSpec*> unusable;  ///< layers with a problem of their own; only looked up, never walked
  bool embedding_is_tied = false;       ///< an embedding shares its table: its gradient is dense
  bool input_is_usable = true;
};

/// Checks sizes, empty lists, places of softmax_loss and of attention over an encoder.
ModelCheck check_model(const ModelSpec& model, std::vector<Problem>& problems);

}  // namespace gpuscale

#pragma once

#include "scenario/map_reader.hpp"
#include "workload/transformer_spec.hpp"

namespace gpuscale {

/// The fields of a `transformer_block` layer.
TransformerBlockLayer read_transformer_block(MapReader& fields);

/// `transformer:` of a model file, a whole model by its sizes.
TransformerSpec read_transformer(MapReader& fields);

}  // namespace gpuscale

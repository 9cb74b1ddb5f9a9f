#pragma once

/// \file
/// A model as a user writes it (workloads/README.md has the grammar): plain values, not yet checked
/// against each other. lower.hpp turns one into shapes and work.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hardware/kernel.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity.hpp"
#include "workload/layers.hpp"
#include "workload/measured_time.hpp"
#include "workload/shape.hpp"

namespace gpuscale {

struct LayerSpec;

/// Outputs of body and shortcut added; an empty shortcut is the identity.
struct ResidualLayer {
  std::vector<LayerSpec> body;
  std::vector<LayerSpec> shortcut;

  bool operator==(const ResidualLayer&) const;
};

/// The input multiplied by the output of the body: number by number, or channel by channel if the body
/// makes features of an image (squeeze and excitation).
struct GateLayer {
  std::vector<LayerSpec> body;

  bool operator==(const GateLayer&) const;
};

/// Dot products of all pairs of the input's vectors and the output of `dense`, beside that output (DLRM).
struct InteractionLayer {
  std::vector<LayerSpec> dense;

  bool operator==(const InteractionLayer&) const;
};

/// Lists of layers that all start from the input and each end in a loss of its own.
struct HeadsLayer {
  std::vector<std::vector<LayerSpec>> heads;

  bool operator==(const HeadsLayer&) const;
};

/// Outputs of the branches concatenated, images over channels; an empty branch passes its input on.
struct BranchesLayer {
  std::vector<std::vector<LayerSpec>> branches;

  bool operator==(const BranchesLayer&) const;
};

struct RepeatLayer {
  std::int64_t times = 1;
  std::vector<LayerSpec> layers;

  bool operator==(const RepeatLayer&) const;
};

/// Layers one after the other: what `use` becomes. Its LayerSpec carries the block's name.
struct GroupLayer {
  std::vector<LayerSpec> layers;

  bool operator==(const GroupLayer&) const;
};

struct EncoderDecoderLayer {
  std::vector<LayerSpec> encoder;
  std::vector<LayerSpec> decoder;

  bool operator==(const EncoderDecoderLayer&) const;
};

using LayerKind =
    std::variant<ConvolutionLayer, TransposedConvolutionLayer, PoolLayer, GlobalAveragePoolLayer, FlattenLayer,
                 SpaceToDepthLayer, FirstChannelsLayer, ToSequenceLayer, ToImageLayer, LinearLayer, NormLayer,
                 ActivationLayer, GatedTanhLayer, DropoutLayer, EmbeddingLayer, EmbeddingTablesLayer, ProductLayer,
                 SegmentEmbeddingLayer, PositionEmbeddingLayer, RecurrentLayer, AttentionLayer, AdditiveAttentionLayer,
                 ContextLayer, TransformerBlockLayer, FirstTokenLayer, ClassTokenLayer, GatherTokensLayer,
                 OtherInputLayer, RememberLayer, RecallLayer, SoftmaxLossLayer, ResidualLayer, GateLayer,
                 InteractionLayer, HeadsLayer, BranchesLayer, RepeatLayer, GroupLayer, EncoderDecoderLayer>;

/// One entry of a list of layers.
struct LayerSpec {
  LayerKind layer;
  std::string name = {};                    ///< may be empty
  Place place = {};                         ///< where it was written
  std::vector<MeasuredTime> measured = {};  ///< points of one layer; empty: times follow from its kernels

  bool operator==(const LayerSpec&) const = default;
};

inline bool ResidualLayer::operator==(const ResidualLayer& other) const {
  return body == other.body && shortcut == other.shortcut;
}
inline bool GateLayer::operator==(const GateLayer& other) const { return body == other.body; }
inline bool InteractionLayer::operator==(const InteractionLayer& other) const { return dense == other.dense; }
inline bool HeadsLayer::operator==(const HeadsLayer& other) const { return heads == other.heads; }
inline bool BranchesLayer::operator==(const BranchesLayer& other) const { return branches == other.branches; }
inline bool RepeatLayer::operator==(const RepeatLayer& other) const {
  return times == other.times && layers == other.layers;
}
inline bool GroupLayer::operator==(const GroupLayer& other) const { return layers == other.layers; }
inline bool EncoderDecoderLayer::operator==(const EncoderDecoderLayer& other) const {
  return encoder == other.encoder && decoder == other.decoder;
}

/// Figures others published for a model, for a test to compare with.
struct PublishedModel {
  double parameters = 0;
  Flop forward = {};  ///< matrix products of one sample, a multiply-add counted two
  std::string source = {};

  bool operator==(const PublishedModel&) const = default;
};

struct ModelSpec {
  std::string id = {};      ///< file name without its ending
  std::string name = {};    ///< for people: "ResNet-50"
  std::string family = {};  ///< conv, recurrent, transformer or dense
  std::string source = {};
  std::optional<PublishedModel> published = {};
  Shape input = features(0);  ///< of one sample; a tokens or sequence length can be overridden later
  std::vector<LayerSpec> layers = {};
  Place input_place = {};   ///< of `input:`
  Place layers_place = {};  ///< of `layers:`

  bool operator==(const ModelSpec&) const = default;
};

/// What the layer is called in a model file: "conv", "max_pool", "lstm", "transformer_block"...
std::string_view kind_name(const LayerKind& layer);

}  // namespace gpuscale

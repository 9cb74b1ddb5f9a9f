#pragma once

/// \file
/// Layers as a user writes them, those that hold no other layers: plain values, one struct a kind. The grammar
/// is in workloads/README.md; model_spec.hpp puts them together.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "hardware/kernel.hpp"
#include "workload/shape.hpp"

namespace gpuscale {

/// A pair for the two sides of an image.
struct Extent {
  std::int64_t height = 1;
  std::int64_t width = 1;

  bool operator==(const Extent&) const = default;
};

struct ConvolutionLayer {
  std::int64_t out = 0;
  Extent kernel = {};
  Extent stride = {};
  Extent padding{0, 0};       ///< on each side; ignored if same_padding
  bool same_padding = false;  ///< output side = ceil(input side / stride)
  std::int64_t groups = 1;
  bool bias = true;

  bool operator==(const ConvolutionLayer&) const = default;
};

/// The mirror of a convolution: each input pixel adds a window of outputs. Output side =
/// (input side - 1) stride + kernel - 2 padding.
struct TransposedConvolutionLayer {
  std::int64_t out = 0;
  Extent kernel = {};
  Extent stride = {};
  Extent padding{0, 0};
  bool bias = true;

  bool operator==(const TransposedConvolutionLayer&) const = default;
};

enum class PoolKind { max, average };

struct PoolLayer {
  PoolKind kind = PoolKind::max;
  Extent kernel = {};
  std::optional<Extent> stride = {};  ///< absent: the kernel
  Extent padding{0, 0};
  bool ceil = false;  ///< round the output side up, as far as the last window starts inside

  bool operator==(const PoolLayer&) const = default;
};

struct GlobalAveragePoolLayer {
  bool operator==(const GlobalAveragePoolLayer&) const = default;
};

struct FlattenLayer {
  bool operator==(const FlattenLayer&) const = default;
};

/// Pixels of a block side by side become channels (pixel unshuffle).
struct SpaceToDepthLayer {
  Extent block = {};

  bool operator==(const SpaceToDepthLayer&) const = default;
};

/// Keeps the first channels of an image.
struct FirstChannelsLayer {
  std::int64_t out = 0;

  bool operator==(const FirstChannelsLayer&) const = default;
};

/// What becomes one vector of a sequence: every pixel (Vision Transformer), or every column of the image with all
/// its channels and rows (a spectrogram over time).
enum class SequencePosition { pixel, column };
inline constexpr std::array<std::string_view, 2> kSequencePositionNames = {"pixel", "column"};

struct ToSequenceLayer {
  SequencePosition position = SequencePosition::pixel;

  bool operator==(const ToSequenceLayer&) const = default;
};

/// A sequence as an image of one row: its numbers are channels, its positions columns.
struct ToImageLayer {
  bool operator==(const ToImageLayer&) const = default;
};

struct LinearLayer {
  std::int64_t out = 0;
  bool bias = true;
  bool tied = false;                         ///< the weight is that of an embedding before it
  std::optional<std::int64_t> rows_of = {};  ///< its vocabulary if only `out` of its rows are multiplied

  bool operator==(const LinearLayer&) const = default;
};

enum class NormKind { batch_norm, local_response_norm, layer_norm, rms_norm };
inline constexpr std::array<std::string_view, 4> kNormNames = {"batch_norm", "local_response_norm", "layer_norm",
                                                               "rms_norm"};

struct NormLayer {
  NormKind kind = NormKind::batch_norm;

  bool operator==(const NormLayer&) const = default;
};

enum class ActivationKind { relu, gelu, tanh, sigmoid, silu, gelu_tanh };
inline constexpr std::array<std::string_view, 6> kActivationNames = {"relu",    "gelu", "tanh",
                                                                     "sigmoid", "silu", "gelu_tanh"};

struct ActivationLayer {
  ActivationKind kind = ActivationKind::relu;

  bool operator==(const ActivationLayer&) const = default;
};

/// tanh of the first half of the channels times sigmoid of the second (WaveNet).
struct GatedTanhLayer {
  bool operator==(const GatedTanhLayer&) const = default;
};

struct DropoutLayer {
  bool operator==(const DropoutLayer&) const = default;
};

struct EmbeddingLayer {
  std::int64_t vocabulary = 0;
  std::int64_t width = 0;
  bool tied = false;  ///< the table is that of an earlier embedding of the same size

  bool operator==(const EmbeddingLayer&) const = default;
};

/// One token for each table: the categorical features of a recommendation model.
struct EmbeddingTablesLayer {
  std::vector<std::int64_t> vocabularies;
  std::int64_t width = 0;

  bool operator==(const EmbeddingTablesLayer&) const = default;
};

/// The vectors of a sequence multiplied number by number (matrix factorisation).
struct ProductLayer {
  bool operator==(const ProductLayer&) const = default;
};

/// A learned vector for each segment a position can belong to, added to the input (BERT).
struct SegmentEmbeddingLayer {
  std::int64_t segments = 0;

  bool operator==(const SegmentEmbeddingLayer&) const = default;
};

/// A learned vector for each position, added to the input.
struct PositionEmbeddingLayer {
  std::int64_t positions = 0;

  bool operator==(const PositionEmbeddingLayer&) const = default;
};

/// `lstm`, `gru` and `rnn`: the names are those of RecurrentCell.
struct RecurrentLayer {
  RecurrentCell cell = RecurrentCell::lstm;
  std::int64_t hidden = 0;
  std::int64_t layers = 1;
  bool bidirectional = false;  ///< the outputs of both directions are concatenated
  std::int64_t biases = 2;     ///< vectors per gate: 2 as cuDNN, 1 or 0
  bool persistent = false;     ///< the framework asks for kernels that keep the recurrent weights on chip

  bool operator==(const RecurrentLayer&) const = default;
};
inline constexpr std::array<std::string_view, 3> kRecurrentCellNames = {"rnn", "gru", "lstm"};

/// Multi-head attention with its four projections.
struct AttentionLayer {
  std::int64_t heads = 1;
  std::optional<std::int64_t> kv_heads = {};   ///< absent: heads
  std::optional<std::int64_t> head_size = {};  ///< absent: width / heads
  bool causal = false;
  bool cross = false;  ///< keys and values from the encoder
  bool bias = true;
  bool rotary = false;  ///< queries and keys are turned by their position

  bool operator==(const AttentionLayer&) const = default;
};

/// Bahdanau's attention: every decoder step scores the encoder output; the context is concatenated.
struct AdditiveAttentionLayer {
  std::int64_t width = 0;

  bool operator==(const AdditiveAttentionLayer&) const = default;
};

/// The context that an attention in this decoder made, concatenated once more to the input. Of a
/// recurrent decoder fed with its target it may also be that of the step before.
struct ContextLayer {
  bool operator==(const ContextLayer&) const = default;
};

/// Non-linearity between the feed-forward matrices. The gated forms have a third matrix.
enum class FeedForward { relu, gelu, swiglu, geglu, gelu_tanh };
inline constexpr std::array<std::string_view, 5> kFeedForwardNames = {"relu", "gelu", "swiglu", "geglu", "gelu_tanh"};
constexpr bool gated(FeedForward kind) { return kind == FeedForward::swiglu || kind == FeedForward::geglu; }

enum class BlockNorm { layer_norm, rms_norm };
inline constexpr std::array<std::string_view, 2> kBlockNormNames = {"layer_norm", "rms_norm"};

/// Feed-forward nets of which a router picks a few for each token.
struct ExpertMixture {
  std::int64_t count = 1;
  std::int64_t active = 1;               ///< experts a token visits
  std::int64_t shared = 0;               ///< further experts that every token visits
  std::optional<std::int64_t> ffn = {};  ///< width of one expert; absent: the block's
  std::optional<double> capacity = {};   ///< places of an expert over its fair share; absent: as many as tokens come

  bool operator==(const ExpertMixture&) const = default;
};

/// Multi-head latent attention (DeepSeek-V2): queries, keys and values come from two narrow vectors. All
/// heads share a part of the key that carries the position.
struct LatentAttention {
  std::int64_t query = 1;      ///< width of the narrow vector of queries
  std::int64_t key_value = 1;  ///< and of keys and values
  std::int64_t rotary = 0;     ///< numbers of a query and key that carry the position, beside head_size

  bool operator==(const LatentAttention&) const = default;
};

/// Self-attention, with `cross` also attention over the encoder, and a feed-forward net; each with
/// its normalisation, dropout and residual sum.
struct TransformerBlockLayer {
  std::int64_t heads = 1;
  std::optional<std::int64_t> kv_heads = {};   ///< absent: heads
  std::optional<std::int64_t> head_size = {};  ///< absent: width / heads
  std::int64_t ffn = 0;
  bool causal = false;
  bool cross = false;
  FeedForward activation = FeedForward::gelu;
  BlockNorm norm = BlockNorm::layer_norm;
  bool bias = true;
  bool dropout = true;
  bool rotary = false;
  std::int64_t memory = 0;          ///< earlier positions that are looked at but not trained (Transformer-XL)
  bool relative_positions = false;  ///< a further product scores distances (Transformer-XL)
  std::optional<ExpertMixture> experts = {};
  std::optional<LatentAttention> latent = {};

  bool operator==(const TransformerBlockLayer&) const = default;
};

struct FirstTokenLayer {
  bool operator==(const FirstTokenLayer&) const = default;
};

/// A learned vector before the first position (Vision Transformer).
struct ClassTokenLayer {
  bool operator==(const ClassTokenLayer&) const = default;
};

/// Keeps a share of the positions, rounded up: those BERT has masked.
struct GatherTokensLayer {
  double share = 1.0;

  bool operator==(const GatherTokensLayer&) const = default;
};

/// Starts from another part of the sample and leaves what came before it to others.
struct OtherInputLayer {
  Shape shape = features(1);

  bool operator==(const OtherInputLayer&) const = default;
};

/// Gives its input a name, for `recall` to go on from there.
struct RememberLayer {
  std::string as;

  bool operator==(const RememberLayer&) const = default;
};
struct RecallLayer {
  std::string what;

  bool operator==(const RecallLayer&) const = default;
};

struct SoftmaxLossLayer {
  bool operator==(const SoftmaxLossLayer&) const = default;
};

}  // namespace gpuscale

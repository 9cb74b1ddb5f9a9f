#pragma once

/// \file
/// Inside of lower(): what the functions that lower one kind of layer share. Not for other folders.

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "units/id.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

/// A tensor that flows between layers.
using ValueId = Id<struct ValueTag>;

/// Sizes beyond these are a mistake, and below them no integer here overflows.
inline constexpr std::int64_t kLargestSize = std::int64_t{1} << 30;
inline constexpr double kLargestTensor = 1099511627776.0;  // 2^40 numbers

/// State of one lowering: the tensors, the names in use, the layers so far.
class Lowering {
 public:
  Lowering(const LowerOptions& options, std::set<const LayerSpec*> unusable, bool embedding_is_tied,
           std::vector<Problem>& problems);

  [[nodiscard]] const LowerOptions& options() const { return options_; }
  /// What the framework writes out: nothing where a compiler fuses.
  [[nodiscard]] const WrittenOutOperators& written_out() const { return written_out_; }
  /// Samples as a factor.
  [[nodiscard]] double batch() const { return static_cast<double>(options_.batch); }
  /// Memory of a tensor as it flows between layers: with sequence parallelism, of this rank's positions.
  [[nodiscard]] Bytes flowing(const Shape& shape) const {
    return (shape.kind == ShapeKind::sequence ? position_share() : 1.0) * bytes(number_count(shape));
  }
  /// Memory of this many numbers per sample, for the batch.
  [[nodiscard]] Bytes bytes(double numbers) const { return numbers * batch() * activation_size(options_.precision); }

  ValueId add_value(const Shape& shape, bool needs_gradient);
  /// The same memory under another shape.
  ValueId add_view(ValueId of, const Shape& shape);
  [[nodiscard]] const Shape& shape(ValueId value) const { return values_[value.index()].shape; }
  [[nodiscard]] bool needs_gradient(ValueId value) const { return values_[value.index()].needs_gradient; }
  [[nodiscard]] bool saved(ValueId value) const;
  /// Marks as kept for backward; false if it was already.
  bool mark_saved(ValueId value);

  /// Adds a problem at the layer, once for each place however often the layer is repeated.
  void note(const LayerSpec& layer, const std::string& text);
  void note(const Place& place, const std::string& text);
  /// False, with a problem, if one sample of this shape is absurdly large.
  bool is_reasonable(const LayerSpec& layer, const Shape& shape);

  /// Unique name of a layer in the current scope; numbers kinds, keeps names.
  std::string new_name(const LayerSpec& layer);
  std::string new_name(std::string_view kind);
  /// Names made until leave() start with this.
  void enter(const std::string& scope);
  void leave();
  /// Between these, tensors go round the layers at hand: no stage may begin there.
  void open_bypass() { ++bypasses_; }
  void close_bypass() { --bypasses_; }
  /// Size of all that goes into a layer whose input this is and into those after it, if that is one tensor.
  [[nodiscard]] std::optional<Bytes> boundary(ValueId in) const;

  /// Over how many ranks outputs of a layer are divided, for layers that are not Transformer blocks.
  [[nodiscard]] int column_degree() const { return std::max(options_.model_split, options_.tensor); }
  /// This rank's share of what sequence parallelism divides.
  [[nodiscard]] double position_share() const {
    return options_.sequence_parallel ? 1.0 / static_cast<double>(options_.tensor) : 1.0;
  }
  [[nodiscard]] const std::string& scope() const { return scopes_.back().prefix; }

  void add(LayerWork layer) { work.layers.push_back(std::move(layer)); }

  /// Counts a visited layer against kMaximumLayers; false, with a problem, if there are too many.
  bool count_layer(const LayerSpec& layer);
  /// A field of it is wrong and was reported: what follows has no shape.
  [[nodiscard]] bool is_unusable(const LayerSpec& layer) const { return unusable_.contains(&layer); }
  [[nodiscard]] bool stopped() const { return stopped_; }
  [[nodiscard]] bool embedding_is_tied() const { return embedding_is_tied_; }

  ModelWork work;
  std::optional<ValueId> encoder;                          ///< output of the encoder, while lowering its decoder
  std::map<std::string, ValueId, std::less<>> remembered;  ///< by the name that `remember` gave
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t>
      embeddings;  ///< by vocabulary and width: the latest layer
  bool has_loss = false;
  bool loss_is_next = false;  ///< the layer at hand feeds a softmax_loss: its outputs may stay divided

 private:
  struct Value {
    Shape shape;
    bool needs_gradient = false;
    bool saved = false;
    ValueId memory;  // the value that owns the memory: itself, or what it is a view of
  };
  struct Scope {
    std::string prefix;
    std::map<std::string, int, std::less<>> counts;
  };
  std::string unique(const std::string& name);

  LowerOptions options_;
  WrittenOutOperators written_out_;
  std::set<const LayerSpec*> unusable_;
  bool embedding_is_tied_;
  std::vector<Problem>& problems_;
  std::vector<Value> values_;
  std::vector<Scope> scopes_{1};
  std::set<std::string> names_;
  std::set<std::string> noted_;
  std::int64_t layer_count_ = 0;
  int bypasses_ = 0;
  bool stopped_ = false;
};

/// One layer while its work is put together.
class Draft {
 public:
  Draft(Lowering& lowering, const LayerSpec& layer, ValueId in);
  Draft(Lowering& lowering, std::string name, std::string_view kind, Place place, ValueId in);
  /// A part of the layer under a name of its own.
  Draft(Lowering& lowering, const LayerSpec& layer, std::string name, std::string_view kind, ValueId in);

  /// A step of the forward pass and what answers it in the backward pass; the backward pass runs the
  /// steps in reverse order.
  void step(std::vector<Kernel> forward, std::vector<Kernel> backward, int forward_operators, int backward_operators);
  /// A step bound by memory: bytes each way. One operator each way; none where nothing moves.
  void stream(Bytes forward, Bytes backward);
  /// An operator that the framework writes out, on this many numbers of the batch; keeps what it keeps.
  void written_out(const WrittenOut& form, double numbers);

  struct Product {
    std::string_view name;  ///< of its parameters: "qkv" gives "qkv.weight"; empty gives "weight"
    std::int64_t out = 1;
    std::int64_t in = 1;
    std::int64_t rows = 1;
    bool bias = true;
    bool needs_gradient = true;                   ///< errors of the input are wanted
    bool own_weight = true;                       ///< false: the weight is counted elsewhere
    bool split = false;                           ///< `out` or `in` is this rank's part
    bool expert = false;                          ///< the groups are experts, and this rank has a part of them
    std::int64_t groups = 1;                      ///< independent matrices of this size, each with `rows` rows
    std::optional<std::int64_t> groups_met = {};  ///< how many of them have rows; absent: all
  };
  /// A matrix product with weights: forward m = out, n = rows, k = in; backward data and weights.
  void product(const Product& product);

  void parameter(std::string name, double count, bool split = false, bool expert = false);
  void matrix(std::string name, double count, std::int64_t rows, bool split = false, bool expert = false);
  void sparse_parameter(std::string name, double count, double touched);
  /// More than its input goes into the layer: no stage may begin with it.
  void joins_ways() { work.boundary.reset(); }

  /// Trains parameters that another layer counts.
  void shares_parameters() { trained_ = true; }
  /// Uses the table of the embedding of this size, if one was seen. \returns whether one was
  bool use_table(std::int64_t vocabulary, std::int64_t width);

  /// What ranks of an axis exchange in a pass over this layer; nothing where they are one or no bytes move.
  void exchange_forward(const LayerExchange& exchange);
  void exchange_backward(const LayerExchange& exchange);

  /// Keeps memory for the backward pass; a value is counted by the first layer that keeps it.
  void save(Bytes memory) { work.saved += memory; }
  void save_scores(Bytes memory) {
    save(memory);
    work.saved_scores += memory;
  }
  void save(ValueId value);
  /// Keeps a tensor gathered from all positions, of which this rank's own are kept already.
  void save_gathered(Bytes whole);

  /// Adds the layer to the model; gives the tensor that leaves it.
  ValueId finish(const Shape& out);
  /// The same, and the layer keeps its own output for the backward pass.
  ValueId finish_saving_output(const Shape& out);
  /// The same for a layer whose output is its input's memory.
  ValueId finish_view(const Shape& out);

  LayerWork work;

 private:
  void close(const Shape& out);
  /// Errors must reach this layer: it has weights or something before it has.
  [[nodiscard]] bool is_trained() const;

  Lowering& lowering_;
  const LayerSpec* layer_ = nullptr;
  ValueId in_;
  bool trained_ = false;
  std::vector<std::vector<Kernel>> backward_steps_;
};

/// Entering a Transformer block's products and leaving them, with what its tensor group exchanges: a sum of
/// outputs forward and of input errors backward, or with sequence parallelism gathers and scattered sums.
void add_tensor_exchanges(Lowering& lowering, Draft& draft, Bytes whole);

/// Multi-head attention without its normalisation, added to a layer as steps.
struct AttentionSteps {
  Shape query;
  std::int64_t heads = 1;
  std::int64_t kv_heads = 1;
  std::int64_t head_size = 1;
  bool causal = false;
  bool bias = true;
  bool rotary = false;
  std::int64_t memory = 0;
  bool relative_positions = false;
  std::optional<LatentAttention> latent = {};
  bool dropout = false;               ///< of the probabilities
  bool needs_gradient = true;         ///< errors of the query input are wanted
  std::optional<ValueId> keys = {};   ///< the encoder's output for cross attention
  std::string_view name_prefix = "";  ///< of the parameters
};
void add_attention(Lowering& lowering, Draft& draft, const AttentionSteps& attention);
/// False, with a problem, if the heads do not divide the width.
bool heads_divide(Lowering& lowering, const LayerSpec& layer, std::int64_t heads, const Shape& shape);
/// The feed-forward net of a Transformer block, added to a layer as steps.
struct FeedForwardSteps {
  std::int64_t width = 1;  ///< of its input and output
  std::int64_t ffn = 1;
  std::int64_t rows = 1;  ///< of the batch
  FeedForward activation = FeedForward::gelu;
  bool bias = true;
  std::string_view name_prefix = "ffn.";
  std::int64_t experts = 1;                      ///< such nets, each with `rows` rows
  bool routed = false;                           ///< they are experts that a router chooses among
  std::optional<std::int64_t> experts_met = {};  ///< how many of them have rows; absent: all
  bool divided = false;                          ///< `ffn` is this rank's part of the width
};
void add_feed_forward(Lowering& lowering, Draft& draft, const FeedForwardSteps& net);
/// Router, experts and the way there and back, instead of a feed-forward net.
void add_experts(Lowering& lowering, Draft& draft, const ExpertMixture& mixture, FeedForwardSteps net);
/// The forward product of a convolution, or of one that goes the other way (Pass::backward_data), with the two
/// of its backward pass, its weights and bias. `to` is the shape of its output.
void add_convolution(Lowering& lowering, Draft& draft, ValueId in, const ConvolutionKernel& forward, const Shape& to,
                     bool bias);
/// False, with a problem, if this is not an image.
bool is_image(Lowering& lowering, const LayerSpec& layer, ValueId in);
/// False, with a problem that says what to do, if this is not a sequence.
bool is_sequence(Lowering& lowering, const LayerSpec& layer, ValueId in);
/// False, with a problem naming degrees that work, if units do not split over so many ranks.
bool splits_evenly(Lowering& lowering, const LayerSpec& layer, std::int64_t units, std::string_view what,
                   std::int64_t degree);

/// The tensor that leaves the layer, or nothing if its shape cannot be told.
using Lowered = std::optional<ValueId>;

Lowered lower_layers(Lowering& lowering, const std::vector<LayerSpec>& layers, ValueId in);

// One for each kind of layer; lower_layers() chooses.
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ConvolutionLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const PoolLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const GlobalAveragePoolLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const FlattenLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const LinearLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const NormLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ActivationLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const DropoutLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const EmbeddingLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const PositionEmbeddingLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const RecurrentLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const AttentionLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const AdditiveAttentionLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const TransformerBlockLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const FirstTokenLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const SoftmaxLossLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ResidualLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const BranchesLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const RepeatLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const GroupLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const TransposedConvolutionLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const SpaceToDepthLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const FirstChannelsLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ToSequenceLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ToImageLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const GatedTanhLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const EmbeddingTablesLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ProductLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const SegmentEmbeddingLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ContextLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const ClassTokenLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const GatherTokensLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const OtherInputLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const RememberLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const RecallLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const GateLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const InteractionLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const HeadsLayer& layer, ValueId in);
Lowered lower_layer(Lowering& lowering, const LayerSpec& spec, const EncoderDecoderLayer& layer, ValueId in);

}  // namespace gpuscale

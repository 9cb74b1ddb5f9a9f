#include "workload/model_spec.hpp"

namespace gpuscale {

std::string_view kind_name(const LayerKind& layer) {
  struct Name {
    std::string_view operator()(const ConvolutionLayer&) const { return "conv"; }
    std::string_view operator()(const PoolLayer& pool) const {
      return pool.kind == PoolKind::max ? "max_pool" : "avg_pool";
    }
    std::string_view operator()(const GlobalAveragePoolLayer&) const { return "global_avg_pool"; }
    std::string_view operator()(const FlattenLayer&) const { return "flatten"; }
    std::string_view operator()(const LinearLayer&) const { return "linear"; }
    std::string_view operator()(const NormLayer& norm) const { return kNormNames[static_cast<std::size_t>(norm.kind)]; }
    std::string_view operator()(const ActivationLayer& activation) const {
      return kActivationNames[static_cast<std::size_t>(activation.kind)];
    }
    std::string_view operator()(const DropoutLayer&) const { return "dropout"; }
    std::string_view operator()(const EmbeddingLayer&) const { return "embedding"; }
    std::string_view operator()(const PositionEmbeddingLayer&) const { return "position_embedding"; }
    std::string_view operator()(const RecurrentLayer& recurrent) const {
      return kRecurrentCellNames[static_cast<std::size_t>(recurrent.cell)];
    }
    std::string_view operator()(const AttentionLayer&) const { return "attention"; }
    std::string_view operator()(const AdditiveAttentionLayer&) const { return "additive_attention"; }
    std::string_view operator()(const TransformerBlockLayer&) const { return "transformer_block"; }
    std::string_view operator()(const FirstTokenLayer&) const { return "first_token"; }
    std::string_view operator()(const SoftmaxLossLayer&) const { return "softmax_loss"; }
    std::string_view operator()(const ResidualLayer&) const { return "residual"; }
    std::string_view operator()(const BranchesLayer&) const { return "branches"; }
    std::string_view operator()(const RepeatLayer&) const { return "repeat"; }
    std::string_view operator()(const GroupLayer&) const { return "use"; }
    std::string_view operator()(const TransposedConvolutionLayer&) const { return "transposed_conv"; }
    std::string_view operator()(const SpaceToDepthLayer&) const { return "space_to_depth"; }
    std::string_view operator()(const FirstChannelsLayer&) const { return "first_channels"; }
    std::string_view operator()(const ToSequenceLayer&) const { return "to_sequence"; }
    std::string_view operator()(const ToImageLayer&) const { return "to_image"; }
    std::string_view operator()(const GatedTanhLayer&) const { return "gated_tanh"; }
    std::string_view operator()(const EmbeddingTablesLayer&) const { return "embedding_tables"; }
    std::string_view operator()(const ProductLayer&) const { return "product"; }
    std::string_view operator()(const SegmentEmbeddingLayer&) const { return "segment_embedding"; }
    std::string_view operator()(const ContextLayer&) const { return "context"; }
    std::string_view operator()(const ClassTokenLayer&) const { return "class_token"; }
    std::string_view operator()(const GatherTokensLayer&) const { return "gather_tokens"; }
    std::string_view operator()(const OtherInputLayer&) const { return "other_input"; }
    std::string_view operator()(const RememberLayer&) const { return "remember"; }
    std::string_view operator()(const RecallLayer&) const { return "recall"; }
    std::string_view operator()(const GateLayer&) const { return "gate"; }
    std::string_view operator()(const InteractionLayer&) const { return "interaction"; }
    std::string_view operator()(const HeadsLayer&) const { return "heads"; }
    std::string_view operator()(const EncoderDecoderLayer&) const { return "encoder_decoder"; }
  };
  return std::visit(Name(), layer);
}

}  // namespace gpuscale

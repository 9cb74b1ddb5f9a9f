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
    std::string_view operator()(const EncoderDecoderLayer&) const { return "encoder_decoder"; }
  };
  return std::visit(Name(), layer);
}

}  // namespace gpuscale

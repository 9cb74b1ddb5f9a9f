#include "workload/layer_work.hpp"

#include <algorithm>

namespace gpuscale {

double parameter_count(const LayerWork& layer) {
  double count = 0;
  for (const ParameterTensor& tensor : layer.parameters) count += static_cast<double>(tensor.count);
  return count;
}

double shared_out(double numbers, double experts, double share, double expert_ranks) {
  return (numbers - experts) * share + experts * std::min(1.0, share * expert_ranks);
}

bool starts_block(const LayerWork& layer) { return layer.kind == "self_attention"; }

bool in_block(const LayerWork& layer) {
  return starts_block(layer) || layer.kind == "cross_attention" || layer.kind == "feed_forward";
}

double expert_count(const LayerWork& layer) {
  double count = 0;
  for (const ParameterTensor& tensor : layer.parameters)
    count += tensor.expert ? static_cast<double>(tensor.count) : 0.0;
  return count;
}

double parameter_count(const ModelWork& work) {
  double count = 0;
  for (const LayerWork& layer : work.layers) count += parameter_count(layer);
  return count;
}

Flop forward_flop_per_sample(const ModelWork& work) {
  Flop total;
  for (const LayerWork& layer : work.layers) total += layer.forward_flop;
  return total / static_cast<double>(work.batch);
}

}  // namespace gpuscale

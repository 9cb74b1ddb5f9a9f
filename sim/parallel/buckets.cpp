#include "parallel/buckets.hpp"

namespace gpuscale {

namespace {

/// Collects tensors into pieces.
class Cutter {
 public:
  explicit Cutter(const BucketRule& rule) : rule_(rule) {}

  void add(const ParameterTensor& tensor, std::size_t layer) {
    const bool alone = tensor.sparse_gradient || (!rule_.whole_model && rule_.size.count() <= 0);
    const bool joins = open_ && !alone && pieces_.back().split == tensor.split && !pieces_.back().sparse;
    if (!joins)
      pieces_.push_back({.values = 0, .last_layer = layer, .split = tensor.split, .sparse = tensor.sparse_gradient});
    Bucket& piece = pieces_.back();
    piece.values += static_cast<double>(tensor.gradient_count);
    piece.last_layer = layer;
    open_ = !alone && (rule_.whole_model || rule_.number * piece.values < limit());
  }

  std::vector<Bucket> take() { return std::move(pieces_); }

 private:
  [[nodiscard]] Bytes limit() const {
    const bool first = pieces_.size() == 1 && rule_.first_size.count() > 0;
    return first ? rule_.first_size : rule_.size;
  }

  const BucketRule& rule_;
  std::vector<Bucket> pieces_;
  bool open_ = false;
};

}  // namespace

std::vector<Bucket> cut_buckets(const ModelWork& work, const BucketRule& rule) {
  Cutter cutter(rule);
  for (std::size_t layer = work.layers.size(); layer-- > 0;) {
    const std::vector<ParameterTensor>& tensors = work.layers[layer].parameters;
    for (auto tensor = tensors.rbegin(); tensor != tensors.rend(); ++tensor) cutter.add(*tensor, layer);
  }
  return cutter.take();
}

}  // namespace gpuscale

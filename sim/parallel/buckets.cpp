#include "parallel/buckets.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace gpuscale {

namespace {

void count_matrix(MatrixSums& sums, const ParameterTensor& tensor) {
  if (tensor.rows < 2 || tensor.count <= tensor.rows) return;
  const double rows = static_cast<double>(tensor.rows);
  const double values = static_cast<double>(tensor.gradient_count);
  ++sums.count;
  sums.values += values;
  sums.rows += rows;
  sums.columns += values / rows;
}

/// Collects tensors into pieces: one is open for each kind of tensors that may share one.
class Cutter {
 public:
  explicit Cutter(const BucketRule& rule) : rule_(rule) {}

  void add(const ParameterTensor& tensor, std::size_t layer) {
    const Bytes size = rule_.number * static_cast<double>(tensor.gradient_count);
    const Bucket empty{.last_layer = layer,
                       .split = tensor.split,
                       .expert = tensor.expert,
                       .sparse = tensor.sparse_gradient,
                       .coded = size >= rule_.codec_from};
    const bool alone = tensor.sparse_gradient || (!rule_.whole_model && rule_.size.count() <= 0);
    Bucket& piece = alone ? pieces_.emplace_back(empty) : open_piece(empty);
    piece.values += static_cast<double>(tensor.gradient_count);
    piece.last_layer = layer;
    if (!tensor.sparse_gradient) count_matrix(piece.matrices, tensor);
    if (!alone && !rule_.whole_model && rule_.number * piece.values >= limit(piece))
      std::erase(open_, static_cast<std::size_t>(&piece - pieces_.data()));
  }

  /// In the order in which they are complete.
  std::vector<Bucket> take() {
    std::ranges::stable_sort(pieces_, std::ranges::greater(), &Bucket::last_layer);
    return std::move(pieces_);
  }

 private:
  /// The open piece of this kind, or a new one. Only pieces with and without codec stay open beside each other: another
  /// kind of layer closes what is open, so that no piece waits for a layer far before its own.
  Bucket& open_piece(const Bucket& empty) {
    std::erase_if(open_, [&](std::size_t piece) {
      return pieces_[piece].split != empty.split || pieces_[piece].expert != empty.expert;
    });
    const auto found =
        std::ranges::find_if(open_, [&](std::size_t piece) { return pieces_[piece].coded == empty.coded; });
    if (found != open_.end()) return pieces_[*found];
    open_.push_back(pieces_.size());
    return pieces_.emplace_back(empty);
  }

  [[nodiscard]] Bytes limit(const Bucket& piece) const {
    const bool first = &piece == pieces_.data() && rule_.first_size.count() > 0;
    return first ? rule_.first_size : rule_.size;
  }

  const BucketRule& rule_;
  std::vector<Bucket> pieces_;
  std::vector<std::size_t> open_ = {};  ///< by number in pieces_
};

}  // namespace

std::vector<Bucket> cut_buckets(const ModelWork& work, std::span<const std::size_t> layers, const BucketRule& rule) {
  Cutter cutter(rule);
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    const std::vector<ParameterTensor>& tensors = work.layers[*layer].parameters;
    for (auto tensor = tensors.rbegin(); tensor != tensors.rend(); ++tensor) cutter.add(*tensor, *layer);
  }
  return cutter.take();
}

void assign_owners(std::span<Bucket> pieces, TensorOwner rule, std::size_t gpus) {
  std::vector<std::size_t> order(pieces.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = order.size() - 1 - i;  // from the first layer on
  if (rule == TensorOwner::largest_first)
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t piece) { return pieces[piece].values; });
  std::vector<double> has(gpus, 0.0);
  for (const std::size_t piece : order) {
    const auto least = rule == TensorOwner::first_gpu ? has.begin() : std::ranges::min_element(has);
    *least += pieces[piece].values;
    pieces[piece].owner = static_cast<std::size_t>(least - has.begin());
  }
}

}  // namespace gpuscale

#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace gpuscale {

/// Directions in which ranks are numbered. An expert group is a part of the data axis.
enum class RankAxis { tensor, context, data, pipeline };

inline constexpr std::array<std::string_view, 4> kRankAxisNames = {"tensor", "context", "data", "pipeline"};

/// From the axis whose neighbours have neighbouring numbers to the outermost.
using RankOrder = std::array<RankAxis, kRankAxisNames.size()>;

inline constexpr RankOrder kUsualRankOrder = {RankAxis::tensor, RankAxis::context, RankAxis::data, RankAxis::pipeline};

/// Ranks that do something together, in order of their numbers.
using Members = std::vector<std::size_t>;

/// How the GPUs of a job are arranged: tensor x context x data x pipeline ranks, numbered along `order`.
struct RankGrid {
  int tensor = 1;    ///< ranks that divide each layer
  int context = 1;   ///< ranks that divide each sequence
  int data = 1;      ///< copies of the model
  int pipeline = 1;  ///< stages
  int expert = 1;    ///< neighbours along data that divide the experts; divides `data`
  RankOrder order = kUsualRankOrder;

  [[nodiscard]] int degree(RankAxis axis) const;
  [[nodiscard]] int size() const { return tensor * context * data * pipeline; }
  /// Ranks that hold one copy of the model together.
  [[nodiscard]] int replica() const { return tensor * context * pipeline; }

  /// Where a rank stands along an axis.
  [[nodiscard]] int place(std::size_t rank, RankAxis axis) const;
  /// From a rank to the next along an axis.
  [[nodiscard]] std::size_t stride(RankAxis axis) const;

  /// All ranks as groups, each of the ranks that differ only along these axes.
  [[nodiscard]] std::vector<Members> groups(const std::vector<RankAxis>& along) const;

  bool operator==(const RankGrid&) const = default;
};

/// Ranks 0 to `ranks` - 1 as groups of those with one key, in order of their first.
std::vector<Members> groups_by(std::size_t ranks, const std::function<std::size_t(std::size_t rank)>& key);

/// Every group cut into runs of `size` neighbours. \pre `size` divides each group's
std::vector<Members> runs_of(const std::vector<Members>& groups, std::size_t size);
/// Of every group, the members that stand `size` apart: those that runs_of() separates. \pre as there
std::vector<Members> across_runs(const std::vector<Members>& groups, std::size_t size);

}  // namespace gpuscale

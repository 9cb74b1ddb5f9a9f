#include "plan/stepped.hpp"

#include <algorithm>
#include <array>

namespace gpuscale {

StepPattern::StepPattern(std::size_t ranks, std::vector<StepCopy> copies, std::vector<ChannelLoad> loads)
    : ranks_(ranks), copies_(std::move(copies)), loads_(std::move(loads)) {
  for (const StepCopy& copy : copies_) {
    strands_ = std::max<std::size_t>(strands_, copy.strand + 1);
    parts_ = std::max<std::size_t>(parts_, copy.part + 1);
    fill_ = std::max(fill_, copy.first_step);
  }
  first_of_rank_.assign(strands_ * ranks_ + 1, 0);
  const auto places = [this](const StepCopy& copy) {
    return std::array{copy.strand * ranks_ + copy.from, copy.strand * ranks_ + copy.to};
  };
  for (const StepCopy& copy : copies_) {
    for (const std::size_t place : places(copy)) ++first_of_rank_[place + 1];
  }
  for (std::size_t i = 1; i < first_of_rank_.size(); ++i) first_of_rank_[i] += first_of_rank_[i - 1];
  of_rank_.resize(copies_.size() * 2);
  std::vector<std::uint32_t> next(first_of_rank_.begin(), first_of_rank_.end() - 1);
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    for (const std::size_t place : places(copies_[i])) of_rank_[next[place]++] = static_cast<std::uint32_t>(i);
  }
}

std::span<const std::uint32_t> StepPattern::of_rank(std::size_t strand, std::size_t rank) const {
  const std::size_t place = strand * ranks_ + rank;
  return std::span(of_rank_).subspan(first_of_rank_[place], first_of_rank_[place + 1] - first_of_rank_[place]);
}

}  // namespace gpuscale

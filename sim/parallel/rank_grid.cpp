#include "parallel/rank_grid.hpp"

#include <map>

#include "units/check.hpp"

namespace gpuscale {

int RankGrid::degree(RankAxis axis) const {
  switch (axis) {
    case RankAxis::tensor:
      return tensor;
    case RankAxis::context:
      return context;
    case RankAxis::data:
      return data;
    case RankAxis::pipeline:
      break;
  }
  return pipeline;
}

std::size_t RankGrid::stride(RankAxis axis) const {
  std::size_t stride = 1;
  for (const RankAxis inner : order) {
    if (inner == axis) break;
    stride *= static_cast<std::size_t>(degree(inner));
  }
  return stride;
}

int RankGrid::place(std::size_t rank, RankAxis axis) const {
  return static_cast<int>(rank / stride(axis) % static_cast<std::size_t>(degree(axis)));
}

std::vector<Members> RankGrid::groups(const std::vector<RankAxis>& along) const {
  return groups_by(static_cast<std::size_t>(size()), [&](std::size_t rank) {
    std::size_t first = rank;
    for (const RankAxis axis : along) first -= static_cast<std::size_t>(place(rank, axis)) * stride(axis);
    return first;
  });
}

std::vector<Members> groups_by(std::size_t ranks, const std::function<std::size_t(std::size_t rank)>& key) {
  std::vector<Members> groups;
  std::map<std::size_t, std::size_t> group_of_key;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto [position, is_new] = group_of_key.try_emplace(key(rank), groups.size());
    if (is_new) groups.emplace_back();
    groups[position->second].push_back(rank);
  }
  return groups;
}

std::vector<Members> runs_of(const std::vector<Members>& groups, std::size_t size) {
  std::vector<Members> runs;
  for (const Members& group : groups) {
    check(size > 0 && group.size() % size == 0, "runs divide their group");
    for (auto first = group.begin(); first != group.end(); first += static_cast<std::ptrdiff_t>(size))
      runs.emplace_back(first, first + static_cast<std::ptrdiff_t>(size));
  }
  return runs;
}

std::vector<Members> across_runs(const std::vector<Members>& groups, std::size_t size) {
  std::vector<Members> across;
  for (const Members& group : groups) {
    check(size > 0 && group.size() % size == 0, "runs divide their group");
    for (std::size_t place = 0; place < size; ++place) {
      Members members;
      for (std::size_t i = place; i < group.size(); i += size) members.push_back(group[i]);
      across.push_back(std::move(members));
    }
  }
  return across;
}

}  // namespace gpuscale

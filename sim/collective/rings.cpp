#include "collective/rings.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gpuscale {

namespace {

/// How many rings the direct NVLinks between each pair can carry, in units of the slowest of them.
class Mesh {
 public:
  Mesh(const Topology& topology, std::span<const DeviceId> gpus) : size_(gpus.size()), units_(size_ * size_, 0) {
    std::vector<double> rates(size_ * size_, 0.0);
    for (const Link& link : topology.links()) {
      const auto from = std::ranges::find(gpus, link.from);
      const auto to = std::ranges::find(gpus, link.to);
      if (link.kind != "nvlink" || from == gpus.end() || to == gpus.end()) continue;
      rates[index(static_cast<std::size_t>(from - gpus.begin()), static_cast<std::size_t>(to - gpus.begin()))] +=
          topology.channels()[link.channel.index()].rate.count();
    }
    double slowest = 0.0;
    for (const double rate : rates) {
      if (rate > 0 && (slowest == 0.0 || rate < slowest)) slowest = rate;
    }
    if (slowest <= 0) return;
    for (std::size_t i = 0; i < rates.size(); ++i) units_[i] = static_cast<int>(std::lround(rates[i] / slowest));
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] int units(std::size_t from, std::size_t to) const { return units_[index(from, to)]; }
  [[nodiscard]] bool exists() const {
    return std::ranges::any_of(units_, [](int units) { return units > 0; });
  }

  /// No more undirected rings than half the links of the least connected rank.
  [[nodiscard]] int most_rings() const {
    int most = std::numeric_limits<int>::max();
    for (std::size_t i = 0; i < size_; ++i) {
      const auto row = units_.begin() + static_cast<std::ptrdiff_t>(i * size_);
      most = std::min(most, std::accumulate(row, row + static_cast<std::ptrdiff_t>(size_), 0) / 2);
    }
    return most;
  }

  /// Takes an undirected ring out of the mesh (or puts it back); false if it does not fit.
  bool take(const Ring& ring, int direction = 1) {
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const std::size_t a = ring[i];
      const std::size_t b = ring[(i + 1) % ring.size()];
      units_[index(a, b)] -= direction;
      if (ring.size() > 2) units_[index(b, a)] -= direction;
    }
    const bool fits = std::ranges::none_of(units_, [](int units) { return units < 0; });
    if (!fits) take(ring, -1);
    return fits;
  }

 private:
  [[nodiscard]] std::size_t index(std::size_t from, std::size_t to) const { return from * size_ + to; }

  std::size_t size_;
  std::vector<int> units_;
};

/// Every ring through all ranks that runs over the mesh, each once whatever its direction.
std::vector<Ring> all_rings(const Mesh& mesh) {
  std::vector<Ring> rings;
  Ring order(mesh.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    if (order.size() > 2 && order[1] > order.back()) continue;  // the same ring the other way round
    bool runs = true;
    for (std::size_t i = 0; i < order.size() && runs; ++i)
      runs = mesh.units(order[i], order[(i + 1) % order.size()]) > 0;
    if (runs) rings.push_back(order);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return rings;
}

/// Tries to fit `wanted` more rings, none of them earlier in the list than `first`.
bool fit(Mesh& mesh, const std::vector<Ring>& rings, std::size_t first, int wanted, std::vector<Ring>& chosen) {
  if (wanted == 0) return true;
  for (std::size_t i = first; i < rings.size(); ++i) {
    if (!mesh.take(rings[i])) continue;
    chosen.push_back(rings[i]);
    if (fit(mesh, rings, i, wanted - 1, chosen)) return true;
    chosen.pop_back();
    mesh.take(rings[i], -1);
  }
  return false;
}

Ring reversed(const Ring& ring) { return {ring.rbegin(), ring.rend()}; }

}  // namespace

std::vector<Ring> find_rings(const Topology& topology, std::span<const DeviceId> gpus) {
  Ring in_order(gpus.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  if (gpus.size() < 2 || gpus.size() > kMeshRanks) return {in_order};
  Mesh mesh(topology, gpus);
  if (!mesh.exists()) return {in_order};
  const std::vector<Ring> candidates = all_rings(mesh);
  if (gpus.size() == 2) return {in_order};  // both directions are one ring already
  std::vector<Ring> chosen;
  for (int wanted = mesh.most_rings(); wanted > 0 && chosen.empty(); --wanted) fit(mesh, candidates, 0, wanted, chosen);
  if (chosen.empty()) return {in_order};
  const std::size_t one_way = chosen.size();
  for (std::size_t i = 0; i < one_way; ++i) chosen.push_back(reversed(chosen[i]));
  return chosen;
}

}  // namespace gpuscale

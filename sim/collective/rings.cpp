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
    for (std::size_t from = 0; from < size_; ++from) {
      for (const LinkId id : topology.links_from(gpus[from])) {
        const Link& link = topology.links()[id.index()];
        const auto to = std::ranges::find(gpus, link.to);
        if (link.kind != "nvlink" || to == gpus.end()) continue;
        rates[index(from, static_cast<std::size_t>(to - gpus.begin()))] +=
            topology.channels()[link.channel.index()].rate.count();
      }
    }
    double slowest = 0.0;
    for (const double rate : rates) {
      if (rate > 0 && (slowest == 0.0 || rate < slowest)) slowest = rate;
    }
    if (slowest <= 0) return;
    for (std::size_t i = 0; i < rates.size(); ++i) units_[i] = static_cast<int>(std::lround(rates[i] / slowest));
  }

  [[nodiscard]] std::size_t size() const { return size_; }
  /// All that rings depend on: two groups with the same have the same rings.
  [[nodiscard]] const std::vector<int>& all_units() const { return units_; }
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

  /// The rank over which a copy between two that have no link goes best; kNoRank if there is none.
  [[nodiscard]] std::size_t relay(std::size_t from, std::size_t to) const {
    std::size_t best = kNoRank;
    int most = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const int both = std::min(units(from, i), units(i, to));
      if (both > most) best = i;
      most = std::max(most, both);
    }
    return best;
  }

  /// Takes an undirected ring out of the mesh (or puts it back); false if it does not fit.
  bool take(const Ring& ring, int direction = 1) {
    for (const Leg& leg : ring) {
      if (leg.relay == kNoRank) {
        take_link(leg.from, leg.to, direction);
      } else {
        take_link(leg.from, leg.relay, direction);
        take_link(leg.relay, leg.to, direction);
      }
    }
    const bool fits = std::ranges::none_of(units_, [](int units) { return units < 0; });
    if (!fits) take(ring, -1);
    return fits;
  }

 private:
  [[nodiscard]] std::size_t index(std::size_t from, std::size_t to) const { return from * size_ + to; }

  void take_link(std::size_t from, std::size_t to, int direction) {
    units_[index(from, to)] -= direction;
    units_[index(to, from)] -= direction;
  }

  std::size_t size_;
  std::vector<int> units_;
};

/// The ring of an order of ranks; empty if the mesh has no way for a leg.
Ring ring_over(const Mesh& mesh, const std::vector<std::size_t>& order, bool relays) {
  Ring ring;
  for (std::size_t i = 0; i < order.size(); ++i) {
    Leg leg{.from = order[i], .to = order[(i + 1) % order.size()]};
    if (mesh.units(leg.from, leg.to) == 0) {
      if (relays) leg.relay = mesh.relay(leg.from, leg.to);
      if (leg.relay == kNoRank) return {};
    }
    ring.push_back(leg);
  }
  return ring;
}

/// Every ring through all ranks that runs over the mesh, each once whatever its direction.
std::vector<Ring> all_rings(const Mesh& mesh, bool relays) {
  std::vector<Ring> rings;
  std::vector<std::size_t> order(mesh.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    if (order.size() > 2 && order[1] > order.back()) continue;  // the same ring the other way round
    if (Ring ring = ring_over(mesh, order, relays); !ring.empty()) rings.push_back(std::move(ring));
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

Ring reversed(const Ring& ring) {
  Ring result(ring.rbegin(), ring.rend());
  for (Leg& leg : result) std::swap(leg.from, leg.to);
  return result;
}

Ring in_rank_order(std::size_t ranks) {
  Ring ring;
  for (std::size_t i = 0; i < ranks; ++i) ring.push_back({.from = i, .to = (i + 1) % ranks});
  return ring;
}

/// As many rings as fit at once; none if the mesh has no ring.
std::vector<Ring> most_rings(Mesh& mesh, bool relays) {
  const std::vector<Ring> candidates = all_rings(mesh, relays);
  std::vector<Ring> chosen;
  for (int wanted = mesh.most_rings(); wanted > 0 && chosen.empty(); --wanted) fit(mesh, candidates, 0, wanted, chosen);
  return chosen;
}

}  // namespace

std::vector<Ring> RingFinder::rings(const Topology& topology, std::span<const DeviceId> gpus) {
  if (gpus.size() < 3 || gpus.size() > kMeshRanks) return {in_rank_order(gpus.size())};  // two are one ring already
  Mesh mesh(topology, gpus);
  if (!mesh.exists()) return {in_rank_order(gpus.size())};
  const auto [known, is_new] = known_.try_emplace(mesh.all_units());
  if (!is_new) return known->second;
  std::vector<Ring> chosen = most_rings(mesh, false);
  if (chosen.empty()) chosen = most_rings(mesh, true);
  if (chosen.empty()) return known->second = {in_rank_order(gpus.size())};
  const std::size_t one_way = chosen.size();
  for (std::size_t i = 0; i < one_way; ++i) chosen.push_back(reversed(chosen[i]));
  return known->second = std::move(chosen);
}

std::vector<Ring> find_rings(const Topology& topology, std::span<const DeviceId> gpus) {
  return RingFinder().rings(topology, gpus);
}

}  // namespace gpuscale

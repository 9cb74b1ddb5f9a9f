#pragma once

/// \file
/// Ways inside one box. Boxes of one shape share their search trees, however many of them a cluster has.

#include <compare>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "topology/machine_spec.hpp"

namespace gpuscale {

/// Fewest links first, then least latency in picoseconds; sums and compares lexicographically.
struct RouteCost {
  std::int64_t hops = 0;
  std::int64_t latency = 0;

  auto operator<=>(const RouteCost&) const = default;
  friend RouteCost operator+(RouteCost a, RouteCost b) { return {a.hops + b.hops, a.latency + b.latency}; }
};

inline constexpr RouteCost kUnreachable{std::numeric_limits<std::int64_t>::max() / 4,
                                        std::numeric_limits<std::int64_t>::max() / 4};

/// Which links a search may use: those that cards have among themselves (NVLink, a TPU's), or all.
enum class Ways { own_links, all };

/// A GPU and a memory end a way and never forward.
constexpr bool forwards(DeviceKind kind) { return kind != DeviceKind::gpu && kind != DeviceKind::memory; }

/// A one-way link; its ends are places in the box, from 0.
struct BoxLink {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::int64_t latency = 0;  ///< picoseconds
  bool own_link = false;     ///< NVLink or a TPU's

  auto operator<=>(const BoxLink&) const = default;
};

/// What ways inside a box depend on.
struct BoxShape {
  std::vector<DeviceKind> kinds = {};
  std::vector<BoxLink> links = {};
  std::vector<std::uint32_t> adapters = {};  ///< devices with a link out of the box

  auto operator<=>(const BoxShape&) const = default;
};

/// Shortest ways between the devices of a box. Links are numbered as in the shape. Trees are searched
/// when asked for and kept: from one thread at a time.
class BoxRoutes {
 public:
  using Path = std::vector<std::uint32_t>;

  explicit BoxRoutes(BoxShape shape);
  ~BoxRoutes();
  BoxRoutes(const BoxRoutes&) = delete;
  BoxRoutes& operator=(const BoxRoutes&) = delete;

  [[nodiscard]] const BoxShape& shape() const { return shape_; }

  /// The links of the shortest way; nothing if there is none. Among equals the lowest link numbers.
  [[nodiscard]] std::optional<Path> path(std::uint32_t from, std::uint32_t to, Ways ways);

  /// The host memory with the shortest way from a device.
  [[nodiscard]] std::optional<std::uint32_t> nearest_memory(std::uint32_t from);

  /// The adapters in order of their distance from a device, none that it does not reach. GPUs with
  /// several equally near adapters start with different ones.
  [[nodiscard]] const std::vector<std::uint32_t>& adapters_by_distance(std::uint32_t from);

 private:
  struct Search;
  struct Way;

  [[nodiscard]] std::optional<Way> way(std::uint32_t from, std::uint32_t to, Ways ways);
  [[nodiscard]] std::vector<std::uint32_t> sorted_adapters(std::uint32_t from, std::vector<RouteCost>& costs);

  BoxShape shape_;
  std::vector<std::vector<std::uint32_t>> out_;  ///< links that leave a device
  std::vector<std::vector<std::uint32_t>> in_;   ///< links that enter a device
  std::unique_ptr<Search> search_;
  std::vector<std::optional<std::vector<std::uint32_t>>> adapters_;  ///< by device
};

}  // namespace gpuscale

#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "topology/box_routes.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// Which devices of a box reach each other at all, without searching for ways: forwarding devices joined
/// by links are one piece, and a GPU or a memory touches the pieces it has links to.
class BoxPieces {
 public:
  explicit BoxPieces(const BoxShape& shape);

  /// Two GPUs without a way between them, if there are such.
  [[nodiscard]] std::optional<std::pair<std::uint32_t, std::uint32_t>> apart() const;

  /// The first GPU that reaches no device of this kind, a memory or a nic.
  [[nodiscard]] std::optional<std::uint32_t> gpu_without(DeviceKind kind) const;

 private:
  [[nodiscard]] bool meet(std::uint32_t a, std::uint32_t b) const;

  std::vector<DeviceKind> kinds_;
  std::vector<std::uint32_t> gpus_;
  /// By device: the pieces it touches, each named by one of its devices, ascending. Links between
  /// devices that do not forward count as touching the other end.
  std::vector<std::vector<std::uint32_t>> touches_;
};

/// What keeps the GPUs of a cluster's machine from copying to each other, to a host memory where they
/// need one, or to a network adapter where there are several nodes. Placed at the device.
std::vector<Problem> reach_problems(const ClusterSpec& spec);

}  // namespace gpuscale

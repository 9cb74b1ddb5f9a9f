#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topology/topology.hpp"

namespace gpuscale {

/// The nearest way between two devices, in the words of `nvidia-smi topo -m`.
enum class JoinKind { self, nvlink, pix, pxb, phb, node, sys, net };

/// What it means, for a legend.
std::string_view meaning(JoinKind kind);

struct Join {
  JoinKind kind = JoinKind::self;
  int nvlinks = 0;  ///< side by side, if it is NVLink

  /// "NV2", "PIX", "X" for a device and itself.
  [[nodiscard]] std::string text() const;
  auto operator<=>(const Join&) const = default;
};

/// How the devices of one box are joined: NVLink where there is one, otherwise by what a PCIe way goes
/// through. Devices of different boxes are joined by the network. The topology must outlive it.
class DeviceJoins {
 public:
  explicit DeviceJoins(const Topology& topology);

  [[nodiscard]] Join between(DeviceId from, DeviceId to);
  /// The processor nearest to a device; invalid if there is none.
  [[nodiscard]] DeviceId cpu_of(DeviceId device);

 private:
  /// What the way from one start into a device goes through.
  struct Way {
    int hops = -1;  ///< -1: none
    int switches = 0;
    int cpus = 0;
    bool between_sockets = false;
  };
  const std::vector<Way>& ways_from(DeviceId start);
  [[nodiscard]] int nvlinks(DeviceId from, DeviceId to) const;

  const Topology* topology_;
  std::vector<std::vector<LinkId>> out_;
  std::map<DeviceId, std::vector<Way>> ways_;
};

}  // namespace gpuscale

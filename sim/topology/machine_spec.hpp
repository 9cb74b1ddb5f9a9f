#pragma once

/// \file
/// Machines and clusters as a user writes them: graphs by name, before they are built and checked.
/// Files: topologies/machines, clusters.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/gpu.hpp"
#include "hardware/link_type.hpp"
#include "hardware/sustained_clock.hpp"
#include "topology/fabric_spec.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// What a device of a machine is. A gpu and a memory end routes; the others forward.
enum class DeviceKind { gpu, cpu, memory, pcie_switch, nvswitch, nic, network_switch };

inline constexpr std::array<std::string_view, 7> kDeviceKindNames = {"gpu",      "cpu", "memory",        "pcie_switch",
                                                                     "nvswitch", "nic", "network_switch"};

constexpr std::string_view name(DeviceKind kind) { return kDeviceKindNames[static_cast<std::size_t>(kind)]; }

struct DeviceSpec {
  std::string name = {};  ///< unique in its machine, such as gpu0
  DeviceKind kind = DeviceKind::gpu;
  /// cpu only: the rate at which its root complex passes peer traffic between its ports, all together.
  std::optional<BytesPerSecond> peer_rate = {};
  /// memory only: the rate at which copies between GPUs pass through it, all together, one way.
  std::optional<BytesPerSecond> staging_rate = {};
  Place place = {};
};

/// A box: devices and how they are connected. Which card sits in the GPU slots is the scenario's.
struct MachineSpec {
  std::string id = {};
  std::string name = {};
  std::string source = {};
  std::vector<DeviceSpec> devices = {};
  std::vector<ConnectionSpec> connections = {};
  bool gpudirect = true;  ///< network adapters read and write GPU memory themselves, if the card allows it
  Place place = {};
};

/// Where ranks go: packed fills a box before the next, spread shares them evenly over the boxes.
enum class Placement { packed, spread };

inline constexpr std::array<std::string_view, 2> kPlacementNames = {"packed", "spread"};

/// The bus connector of a card, its link type resolved.
struct BusOfCard {
  LinkType type = {};
  int lanes = 1;
};

/// What others take of every link of a kind.
struct BackgroundTraffic {
  std::string kind = {};  ///< pcie, ethernet...
  double share = 0.0;     ///< of the rate; [0, 0.95]
};

/// A kind of card of a cluster that has several.
struct CardKind {
  Gpu gpu = {};
  std::optional<BusOfCard> bus = {};
  std::optional<Cooling> cooling = {};
};

/// The hardware a job runs on.
struct ClusterSpec {
  MachineSpec machine = {};
  Gpu gpu = {};                            ///< in every GPU slot; of unlike cards that of the first rank
  std::optional<BusOfCard> gpu_bus = {};   ///< of gpu.host_bus; a connection is no faster than it
  std::vector<CardKind> other_cards = {};  ///< kinds 1, 2... of unlike cards; kind 0 is `gpu`
  /// By box and GPU slot, the kind of card there; boxes beyond the last begin anew. Empty: kind 0 everywhere.
  std::vector<std::vector<std::size_t>> card_of_slot = {};
  int gpus = 1;   ///< how many the job uses, over all nodes
  int nodes = 1;  ///< boxes
  std::optional<FabricSpec> fabric = {};
  Placement placement = Placement::packed;
  /// False: no direct copies between GPUs, over NVLink neither (NCCL_P2P_DISABLE=1); true: over PCIe also
  /// where the card's driver forbids them; not given: as the card.
  std::optional<bool> peer_to_peer = {};
  std::optional<bool> gpudirect = {};            ///< in place of the machine's
  std::optional<EqualCostSpec> equal_cost = {};  ///< in place of the fabric's
  std::optional<Cooling> cooling = {};           ///< of `gpu`; not given: cards keep up their clocks
  std::optional<Watts> power_limit = {};         ///< below the card's own
  std::optional<double> spread = {};             ///< of speed between like cards, in place of their family's; [0, 0.2]
  std::vector<BackgroundTraffic> background = {};
};

}  // namespace gpuscale

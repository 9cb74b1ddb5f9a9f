#pragma once

/// \file
/// The graph of devices and one-way links that transfers run over. Built once, checked, then only
/// asked. Boost.Graph stays in the .cpp.

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topology/fabric_routes.hpp"
#include "topology/machine_spec.hpp"
#include "units/id.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// What a byte takes of a root complex's channel that passes it from port to port of PCIe; see Topology::route().
inline constexpr int kPassParts = 4;

struct Device {
  std::string name;  ///< unique in the topology, such as node3.gpu0; the node is left out if there is one
  DeviceKind kind = DeviceKind::gpu;
  int node = 0;               ///< box; -1: between the boxes
  std::size_t card = 0;       ///< gpu: its kind, of those of the cluster
  bool peer_to_peer = false;  ///< gpu: may copy to another of its box over PCIe
  bool own_links = true;      ///< gpu: may copy to another over NVLink or, of a TPU, the links of the pod
  bool gpudirect = false;     ///< gpu: the network adapter reads and writes its memory without the host
  /// cpu: peer traffic that passes its root complex, kPassParts bytes for each; may be invalid
  ChannelId through = {};
  ChannelId staging = {};  ///< memory: copies between GPUs that pass through it; may be invalid
  ChannelId staged = {};   ///< gpu: what it writes and reads of copies that pass through host memory; may be invalid
};

struct Link {
  DeviceId from;
  DeviceId to;
  ChannelId channel;  ///< whose rate it uses; both directions of a half-duplex link have the same
  Seconds latency;
  std::string type;  ///< link type id, such as pcie-3
  std::string kind;  ///< pcie, nvlink, socket, memory, infiniband, ethernet, fabric (of a TPU pod)
  int lanes = 1;     ///< of its type; NVLinks if it is one
  std::shared_ptr<const LinkExchange> exchange = {};  ///< of its type; may be null
};

/// A rate that transfers share, by name for reports.
struct Channel {
  std::string name;
  BytesPerSecond rate;  ///< delivered to large transfers, in what it counts
  int counts = 1;       ///< what it counts for a byte that passes it
};

/// How a copy goes from one device to another.
struct Route {
  std::vector<ChannelId> channels;  ///< every rate it uses, repeated where it passes twice
  std::vector<LinkId> links;        ///< in the order in which it passes them
  Seconds latency;                  ///< sum over its links
  bool staged = false;              ///< written to host memory and read from there
  bool over_nvlink = false;         ///< NVLink (or the links of a TPU pod) all the way
  bool crosses_nodes = false;
};

class Topology {
 public:
  ~Topology();
  Topology(Topology&&) noexcept;
  Topology& operator=(Topology&&) noexcept;

  [[nodiscard]] std::span<const Device> devices() const;
  [[nodiscard]] std::span<const Link> links() const;
  [[nodiscard]] std::span<const Channel> channels() const;
  [[nodiscard]] const Device& device(DeviceId id) const { return devices()[id.index()]; }

  /// The links that leave a device, in the order they were added.
  [[nodiscard]] std::span<const LinkId> links_from(DeviceId device) const;

  /// All GPUs, in the order they were added.
  [[nodiscard]] std::span<const DeviceId> gpus() const;

  /// The way of a copy between two devices. In a box: over NVLink where that leads there; directly over
  /// PCIe where both ends may; otherwise through the memory nearest to the sender. Between boxes: by the
  /// adapters nearest to both ends, through host memory at an end without GPUDirect. Among equal ways
  /// the one with fewest links, then least latency, then lowest link numbers; among equal ways between
  /// switches as EqualCostSpec says. Traffic between two GPUs, or a GPU and an adapter, also loads the root complexes
  /// that it passes: kPassParts from port to port, three quarters of that where it crosses to another socket or comes
  /// from one. Cached; safe to call from one thread at a time. The same device: an empty route. \throws ScenarioError
  /// if no way leads there.
  [[nodiscard]] const Route& route(DeviceId from, DeviceId to) const;

  /// The host memory with the shortest way from a device of a box; invalid if it reaches none.
  [[nodiscard]] DeviceId host_memory(DeviceId gpu) const;

  /// The network adapter that a device's traffic to other boxes takes; invalid without one. GPUs with
  /// several equally near adapters take turns.
  [[nodiscard]] DeviceId adapter(DeviceId device) const;

  /// How many boxes there are.
  [[nodiscard]] int nodes() const;

  /// The torus between the boxes; without one its size is empty.
  [[nodiscard]] const TorusGrid& torus() const;

 private:
  friend class TopologyBuilder;
  struct Graph;
  explicit Topology(std::unique_ptr<Graph> graph);
  std::unique_ptr<Graph> graph_;
};

/// Collects devices and links; build() checks that every GPU reaches every other.
class TopologyBuilder {
 public:
  TopologyBuilder();
  ~TopologyBuilder();

  DeviceId add(Device device);
  /// Copies between GPUs of a box that pass through host memory use the one nearest to its first GPU.
  void keep_copies_in_one_memory();
  /// \param rate of what passes it, bytes a second
  ChannelId add_channel(std::string name, BytesPerSecond rate, int counts = 1);
  /// Both directions, each with the full rate, or one rate for both if half duplex.
  void connect(DeviceId a, DeviceId b, const LinkType& type, int lanes);

  /// Adapters that lie in a torus, whose ways then go dimension by dimension.
  void set_torus(TorusGrid torus);
  void set_equal_cost(EqualCostSpec equal_cost);

  /// \throws ScenarioError naming the first pair of GPUs without a way between them.
  Topology build() &&;

 private:
  std::unique_ptr<Topology::Graph> graph_;
};

}  // namespace gpuscale

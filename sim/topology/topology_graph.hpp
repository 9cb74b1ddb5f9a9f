#pragma once

/// \file
/// The inside of a Topology: not for other folders.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "topology/box_routes.hpp"
#include "topology/fabric_routes.hpp"
#include "topology/topology.hpp"

namespace gpuscale {

struct Topology::Graph {
  std::vector<Device> devices;
  std::vector<Link> links;
  std::vector<Channel> channels;
  std::vector<DeviceId> gpus;
  std::vector<LinkId> links_by_device;    ///< links by the device that they leave
  std::vector<std::uint32_t> first_link;  ///< by device: where its links begin there, and a last one where all end
  TorusGrid torus;
  EqualCostSpec equal_cost;
  bool one_memory = false;  ///< of each box, for all copies between GPUs that pass through host memory

  /// What stands in one box: its devices and the links among them by their place in its shape.
  struct Box {
    std::vector<DeviceId> devices;
    std::vector<LinkId> links;
    BoxRoutes* routes = nullptr;  ///< of all boxes of this shape
  };
  std::vector<Box> boxes;            ///< by node
  std::vector<std::uint32_t> place;  ///< by device: its place in its box
  std::map<BoxShape, std::unique_ptr<BoxRoutes>> shapes;
  FabricRoutes fabric;
  std::unordered_map<std::uint64_t, Route> routes;

  /// A way in pieces, each without a stop; between two pieces the copy rests in a host memory.
  struct Way {
    std::vector<std::vector<LinkId>> pieces = {};
    std::vector<DeviceId> memories = {};  ///< in which it rests
    bool over_own_links = false;
  };

  /// Sorts links by the device that they leave; call once, when both are complete.
  void sort_links();
  /// Sorts devices and links into boxes and a fabric; call once, when both are complete.
  void sort_into_boxes();
  /// \throws ScenarioError if a GPU cannot be reached from another or lacks a host memory it needs.
  void check_reach();

  [[nodiscard]] Way find_way(DeviceId from, DeviceId to);
  [[nodiscard]] Route find_route(DeviceId from, DeviceId to);
  [[nodiscard]] DeviceId nearest_memory(DeviceId device);
  /// Where copies of a GPU to others rest.
  [[nodiscard]] DeviceId staging_memory(DeviceId gpu);
  /// Adapters of the device's box with a link out of it, nearest first.
  [[nodiscard]] std::vector<DeviceId> adapters_of(DeviceId device);

 private:
  [[nodiscard]] Box& box_of(DeviceId device) { return boxes[static_cast<std::size_t>(devices[device.index()].node)]; }
  [[nodiscard]] std::optional<std::vector<LinkId>> path_in_box(DeviceId from, DeviceId to, Ways ways);
  [[nodiscard]] std::optional<Way> way_in_box(DeviceId from, DeviceId to);
  [[nodiscard]] std::optional<Way> way_between_boxes(DeviceId from, DeviceId to);
  [[nodiscard]] std::optional<Way> way_by_adapters(DeviceId from, DeviceId first, DeviceId second, DeviceId to);
  [[nodiscard]] std::optional<Way> half_way(DeviceId device, DeviceId adapter, bool outwards);
  void append_piece(Route& route, const std::vector<LinkId>& piece) const;
};

}  // namespace gpuscale

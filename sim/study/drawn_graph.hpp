#pragma once

/// \file
/// What a drawing of a topology shows: one box in full, switches that do the same drawn once.

#include <string>
#include <vector>

#include "topology/cluster.hpp"

namespace gpuscale {

struct DrawnDevice {
  std::string name;    ///< of a single device in its box, or "nvswitch0-5"
  std::string detail;  ///< the card; "one of 16"; may be empty
  DeviceKind kind = DeviceKind::gpu;
  std::size_t count = 1;  ///< devices it stands for
  int level = 0;          ///< network switch: steps from the nearest adapter, from 0
};

/// Connections between two drawn devices; several that are equal are one with a count.
struct DrawnLink {
  std::size_t a = 0;
  std::size_t b = 0;
  std::string kind;
  std::string type;     ///< "pcie-3 x16"
  int lanes = 1;        ///< of all together, if NVLink
  BytesPerSecond rate;  ///< of one of them, one way
  std::size_t count = 1;
};

struct DrawnGraph {
  std::vector<DrawnDevice> devices;
  std::vector<DrawnLink> links;
  std::size_t left_out = 0;  ///< GPUs of the box that are not drawn, nor what hangs beside them
};

/// A box of up to so many GPUs is drawn in full, of a larger one the first few.
inline constexpr std::size_t kDrawnGpus = 16;
inline constexpr std::size_t kFirstGpus = 8;

/// `cards`: their names by kind.
DrawnGraph drawn_graph(const Cluster& cluster, const std::vector<std::string>& cards);

/// "#2f6db5": what stands for a kind of link in drawings.
std::string_view link_colour(std::string_view kind);

}  // namespace gpuscale

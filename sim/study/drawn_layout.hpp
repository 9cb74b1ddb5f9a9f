#pragma once

#include <string>
#include <vector>

#include "study/drawn_graph.hpp"

namespace gpuscale {

/// A device as a rectangle; `x` is its middle, `y` its upper edge.
struct PlacedBox {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;

  [[nodiscard]] double left() const { return x - width / 2; }
  [[nodiscard]] double right() const { return x + width / 2; }
  [[nodiscard]] double bottom() const { return y + height; }
};

/// Where everything is, in pixels: the network on top, then adapters, memory, processors, switches, and
/// the GPUs at the bottom, with NVLink below them.
struct DrawnLayout {
  std::vector<PlacedBox> boxes;  ///< by device of the graph
  PlacedBox frame;               ///< around the devices of the box
  double gpu_row = 0;            ///< upper edge of the GPUs
  double arcs_depth = 0;         ///< of the deepest link between two GPUs, below them
  double width = 0;
  double height = 0;
};

DrawnLayout lay_out(const DrawnGraph& graph);

/// How far below its GPUs a direct link between them hangs.
double arc_depth(const DrawnLayout& layout, const DrawnLink& link);

}  // namespace gpuscale

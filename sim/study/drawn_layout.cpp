#include "study/drawn_layout.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace gpuscale {

namespace {

constexpr double kMargin = 40;
constexpr double kTitle = 64;  // above the drawing
constexpr double kSlot = 124;  // from one GPU to the next
constexpr double kBoxWidth = 96;
constexpr double kAdapterWidth = 84;
constexpr double kBoxHeight = 40;
constexpr double kRowGap = 66;  // room for the two lines of a label
constexpr double kFramePadding = 26;

bool is_network(const DrawnDevice& device) { return device.kind == DeviceKind::network_switch; }

class LayoutMaker {
 public:
  explicit LayoutMaker(const DrawnGraph& graph) : graph_(graph), parent_(graph.devices.size()) {
    layout_.boxes.resize(graph.devices.size());
    depth_.assign(graph.devices.size(), 0);
  }

  DrawnLayout make() {
    find_parents();
    find_owners();
    place_trees();
    place_adapters();
    place_rows();
    place_wide_boxes();
    centre();
    return std::move(layout_);
  }

 private:
  [[nodiscard]] bool is(std::size_t device, DeviceKind kind) const { return graph_.devices[device].kind == kind; }
  [[nodiscard]] bool in_tree(std::size_t device) const {
    return is(device, DeviceKind::cpu) || is(device, DeviceKind::pcie_switch) || is(device, DeviceKind::gpu);
  }

  /// Breadth first from the processors: who hangs below whom.
  void find_parents() {
    for (std::size_t i = 0; i < graph_.devices.size(); ++i) {
      if (is(i, DeviceKind::cpu)) order_.push_back(i);
    }
    std::vector<bool> reached(graph_.devices.size(), false);
    for (const std::size_t root : order_) reached[root] = true;
    roots_ = order_;
    spread(reached);
    for (std::size_t i = 0; i < graph_.devices.size(); ++i) {  // what no processor reaches
      if (reached[i] || is_network(graph_.devices[i]) || is(i, DeviceKind::nvswitch)) continue;
      if (!in_tree(i)) continue;
      reached[i] = true;
      roots_.push_back(i);
      order_.push_back(i);
      spread(reached);
    }
  }

  void spread(std::vector<bool>& reached) {
    for (; next_ < order_.size(); ++next_) {
      const std::size_t at = order_[next_];
      if (is(at, DeviceKind::gpu) || !in_tree(at)) continue;
      for (const DrawnLink& link : graph_.links) {
        if (link.a != at && link.b != at) continue;
        const std::size_t other = link.a == at ? link.b : link.a;
        const bool below = link.kind == "pcie" || link.kind == "memory" || is(other, DeviceKind::gpu);
        if (reached[other] || !below || is_network(graph_.devices[other])) continue;
        reached[other] = true;
        parent_[other] = at;
        depth_[other] = depth_[at] + 1;
        order_.push_back(other);
      }
    }
  }

  /// An adapter of a card's own, such as the links of a TPU.
  void find_owners() {
    for (const DrawnLink& link : graph_.links) {
      for (const auto& [adapter, owner] : {std::pair(link.a, link.b), std::pair(link.b, link.a)}) {
        if (is(adapter, DeviceKind::nic) && is(owner, DeviceKind::gpu) && !parent_[adapter]) parent_[adapter] = owner;
      }
    }
  }

  [[nodiscard]] bool adapters_are_joined() const {
    return std::ranges::any_of(graph_.links, [&](const DrawnLink& link) {
      return is(link.a, DeviceKind::nic) && is(link.b, DeviceKind::nic);
    });
  }

  void place_trees() {
    for (const std::size_t root : roots_) {
      place_tree(root);
      cursor_ += kSlot * 0.15;
    }
  }

  /// Below each other; a device stands over the middle of what hangs below it.
  double place_tree(std::size_t device) {
    std::vector<double> below;
    for (const std::size_t child : order_) {
      if (parent_[child] == device && in_tree(child)) below.push_back(place_tree(child));
    }
    double x = 0;
    if (below.empty()) {
      x = kMargin + kFramePadding + cursor_ + kSlot / 2;
      cursor_ += kSlot;
    } else {
      x = (below.front() + below.back()) / 2;
    }
    layout_.boxes[device] = {x, 0, kBoxWidth, kBoxHeight};
    return x;
  }

  /// Above what they hang on, beside a processor, and never over each other.
  void place_adapters() {
    std::vector<std::size_t> adapters;
    for (std::size_t i = 0; i < graph_.devices.size(); ++i) {
      if (is(i, DeviceKind::memory)) {
        layout_.boxes[i] = {parent_[i] ? layout_.boxes[*parent_[i]].x : 0, 0, kBoxWidth, kBoxHeight};
      }
      if (is(i, DeviceKind::nic)) adapters.push_back(i);
    }
    for (const std::size_t adapter : adapters)
      layout_.boxes[adapter] = {wanted_place(adapter, adapters), 0, kAdapterWidth, kBoxHeight};
    std::ranges::stable_sort(adapters, {}, [&](std::size_t i) { return layout_.boxes[i].x; });
    double least = 0;
    for (const std::size_t adapter : adapters) {
      PlacedBox& box = layout_.boxes[adapter];
      box.x = std::max(box.x, least);
      least = box.x + kAdapterWidth + 10;
    }
  }

  double wanted_place(std::size_t adapter, const std::vector<std::size_t>& adapters) const {
    if (!parent_[adapter]) return kMargin + kFramePadding + kSlot / 2;
    const std::size_t parent = *parent_[adapter];
    double place = 0;
    double count = 0;
    for (const std::size_t other : adapters) {
      if (parent_[other] != parent) continue;
      if (other == adapter) place = count;
      count += 1;
    }
    double x = layout_.boxes[parent].x + (place - (count - 1) / 2) * (kAdapterWidth + 10);
    for (const std::size_t root : roots_) {  // a way up that does not go through a processor
      const double aside = x - layout_.boxes[root].x;
      const double room = (kBoxWidth + kAdapterWidth) / 2 + 14;
      if (is(root, DeviceKind::cpu) && std::abs(aside) < kBoxWidth / 2 + 4) x = layout_.boxes[root].x + room;
    }
    return x;
  }

  [[nodiscard]] int deepest_switch() const {
    int deepest = 0;
    for (std::size_t i = 0; i < graph_.devices.size(); ++i) {
      if (is(i, DeviceKind::pcie_switch)) deepest = std::max(deepest, depth_[i]);
    }
    return deepest;
  }

  [[nodiscard]] bool has(DeviceKind kind) const {
    return std::ranges::any_of(graph_.devices, [&](const DrawnDevice& device) { return device.kind == kind; });
  }

  void place_rows() {
    int levels = 0;
    for (const DrawnDevice& device : graph_.devices) {
      if (is_network(device)) levels = std::max(levels, device.level + 1);
    }
    double y = kTitle + 12;
    const double network = y;
    y += levels * (kBoxHeight + kRowGap);
    const double frame = y - kFramePadding * 0.5;
    y += levels > 0 ? kFramePadding * 0.5 : kFramePadding * 0.3;
    if (adapters_are_joined()) y += kRowGap + 20;
    const double adapters = y;
    if (has(DeviceKind::nic)) y += kBoxHeight + 30;
    const double memories = y;
    if (has(DeviceKind::memory)) y += kBoxHeight + 44;
    const double cpus = y;
    const int switches = deepest_switch();
    layout_.gpu_row = has(DeviceKind::cpu) || switches > 0 ? cpus + (switches + 1) * (kBoxHeight + kRowGap) : cpus;
    for (std::size_t i = 0; i < graph_.devices.size(); ++i) {
      PlacedBox& box = layout_.boxes[i];
      if (is(i, DeviceKind::nic)) box.y = adapters;
      if (is(i, DeviceKind::memory)) box.y = memories;
      if (is(i, DeviceKind::cpu)) box.y = cpus;
      if (is(i, DeviceKind::pcie_switch)) box.y = cpus + depth_[i] * (kBoxHeight + kRowGap);
      if (is(i, DeviceKind::gpu)) box.y = layout_.gpu_row;
      if (is_network(graph_.devices[i]))
        box.y = network + (levels - 1 - graph_.devices[i].level) * (kBoxHeight + kRowGap);
    }
    layout_.frame.y = frame;
  }

  /// NVSwitches and network switches span what they join; then the sizes of all.
  void place_wide_boxes() {
    double right = kMargin + kFramePadding + kSlot;
    for (const PlacedBox& box : layout_.boxes) right = std::max(right, box.right());
    const double left = kMargin;
    right += kFramePadding;
    double y = layout_.gpu_row + kBoxHeight;
    layout_.arcs_depth = deepest_arc();
    if (layout_.arcs_depth > 0) y += layout_.arcs_depth + 14;
    for (std::size_t i = 0; i < graph_.devices.size(); ++i) {
      const bool nvswitch = is(i, DeviceKind::nvswitch);
      if (!nvswitch && !is_network(graph_.devices[i])) continue;
      if (nvswitch) y += kRowGap;
      PlacedBox& box = layout_.boxes[i];
      box = {(left + right) / 2, nvswitch ? y : box.y, right - left - 2 * kFramePadding, kBoxHeight};
      if (nvswitch) y += kBoxHeight;
    }
    y += kFramePadding;
    layout_.frame = {(left + right) / 2, layout_.frame.y, right - left, y - layout_.frame.y};
    layout_.width = right + kMargin;
    layout_.height = y;
  }

  /// A title needs some width, however small the machine.
  void centre() {
    constexpr double kLeast = 680;
    const double shift = (kLeast - layout_.width) / 2;
    if (shift <= 0) return;
    layout_.width = kLeast;
    layout_.frame.x += shift;
    for (PlacedBox& box : layout_.boxes) box.x += shift;
  }

  [[nodiscard]] double deepest_arc() const {
    double deepest = 0;
    for (const DrawnLink& link : graph_.links) {
      if (is(link.a, DeviceKind::gpu) && is(link.b, DeviceKind::gpu)) {
        deepest = std::max(deepest, arc_depth(layout_, link));
      }
    }
    return deepest;
  }

  const DrawnGraph& graph_;
  std::vector<std::optional<std::size_t>> parent_;
  std::vector<int> depth_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> roots_;
  std::size_t next_ = 0;
  double cursor_ = 0;
  DrawnLayout layout_;
};

}  // namespace

DrawnLayout lay_out(const DrawnGraph& graph) { return LayoutMaker(graph).make(); }

double arc_depth(const DrawnLayout& layout, const DrawnLink& link) {
  const double slots = std::abs(layout.boxes[link.a].x - layout.boxes[link.b].x) / kSlot;
  return 16 + 24 * slots;
}

}  // namespace gpuscale

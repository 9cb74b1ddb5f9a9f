#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <set>

#include "report/svg.hpp"
#include "report/text_style.hpp"
#include "study/drawn_graph.hpp"
#include "study/drawn_layout.hpp"
#include "study/topology_drawing.hpp"
#include "study/topology_tables.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

struct BoxLook {
  std::string_view fill;
  std::string_view stroke;
  std::string_view what;
};

/// In the order of DeviceKind.
constexpr std::array<BoxLook, 7> kLooks = {{{"#e6f3df", "#4a9c2d", "GPU"},
                                            {"#fdeedd", "#c2651b", "processor"},
                                            {"#f0f1f3", "#7d838c", "host memory"},
                                            {"#e3edf8", "#2f6db5", "PCIe switch"},
                                            {"#d8eccb", "#4a9c2d", "NVSwitch"},
                                            {"#f3e8f8", "#8e44ad", "network adapter"},
                                            {"#ecdcf3", "#8e44ad", "network switch"}}};

constexpr double kLegendRow = 22;

class Painter {
 public:
  Painter(const TopologyReport& report, DrawnGraph graph)
      : report_(report),
        graph_(std::move(graph)),
        layout_(lay_out(graph_)),
        svg_(width(), layout_.height + legend_height()) {
    find_ports();
  }

  std::string paint() {
    paint_title();
    paint_frame();
    for (const DrawnLink& link : graph_.links) paint_wire(link);
    for (std::size_t i = 0; i < graph_.devices.size(); ++i) paint_box(i);
    for (const Label& label : labels_) paint_label(label);
    paint_legend();
    return svg_.finish();
  }

 private:
  struct Label {
    double x = 0;
    double y = 0;
    std::string first;
    std::string second;
    std::string_view colour;
  };

  [[nodiscard]] double width() const { return layout_.width; }
  [[nodiscard]] bool is(std::size_t device, DeviceKind kind) const { return graph_.devices[device].kind == kind; }

  void paint_title() {
    const double fits = (width() - 80) / (0.57 * static_cast<double>(display_width(report_.title)));
    svg_.text(40, 32, report_.title, {.size = std::clamp(fits, 9.0, 18.0), .anchor = "start", .bold = true});
    std::string line = gpus_in_words(report_);
    if (report_.nodes > 1) line += fmt::format(" in {} boxes, joined by {}", report_.nodes, report_.fabric);
    line += "; rates are one way, as delivered to large copies";
    svg_.text(40, 52, line, {.size = 12, .fill = "#555555", .anchor = "start"});
  }

  /// Boxes that are alike stand behind the one that is drawn.
  void paint_frame() {
    const PlacedBox& frame = layout_.frame;
    const int behind = report_.nodes > 2 ? 2 : report_.nodes - 1;
    for (int i = behind; i >= 0; --i) {
      svg_.rect(frame.left() + 7 * i, frame.y + 7 * i, frame.width, frame.height,
                {.fill = i == 0 ? "#fcfcfc" : "#f1f1f1", .stroke = "#c4c4c4", .radius = 12});
    }
    if (report_.nodes == 1) return;
    svg_.text(frame.left() + 12, frame.bottom() - 10, fmt::format("one of {} boxes, all alike", report_.nodes),
              {.size = 11, .fill = "#777777", .anchor = "start"});
  }

  /// Where the links between GPUs leave them: side by side, in the order of where they go.
  void find_ports() {
    for (std::size_t i = 0; i < graph_.links.size(); ++i) {
      const DrawnLink& link = graph_.links[i];
      if (!is(link.a, DeviceKind::gpu) || !is(link.b, DeviceKind::gpu)) continue;
      ports_[link.a].push_back(i);
      ports_[link.b].push_back(i);
    }
    for (auto& [device, links] : ports_) {
      const auto other_end = [&, gpu = device](std::size_t i) {
        const DrawnLink& link = graph_.links[i];
        const double x = layout_.boxes[link.a == gpu ? link.b : link.a].x;
        const double here = layout_.boxes[gpu].x;
        return x < here ? std::pair(0, -(here - x)) : std::pair(1, x - here);  // far left ... near right, far right
      };
      // Nested: the nearest partner on a side sits outermost on it, so that arcs do not cross at the card.
      std::ranges::sort(links, {}, [&](std::size_t i) {
        const auto [side, distance] = other_end(i);
        return side == 0 ? std::pair(0, -distance * -1.0) : std::pair(1, -distance);
      });
    }
  }

  [[nodiscard]] double port(std::size_t device, std::size_t link) const {
    const std::vector<std::size_t>& links = ports_.at(device);
    const auto place = static_cast<double>(std::ranges::find(links, link) - links.begin());
    const PlacedBox& box = layout_.boxes[device];
    return box.left() + box.width * (place + 1) / (static_cast<double>(links.size()) + 1);
  }

  [[nodiscard]] SvgStyle stroke(const DrawnLink& link) const {
    SvgStyle style;
    style.stroke = link_colour(link.kind);
    style.stroke_width = link.kind == "nvlink" ? std::min(1.3 * link.lanes, 5.0) : 2.0;
    style.opacity = 0.85;
    return style;
  }

  void paint_wire(const DrawnLink& link) {
    const bool a_gpu = is(link.a, DeviceKind::gpu);
    const bool b_gpu = is(link.b, DeviceKind::gpu);
    if (a_gpu && b_gpu) return paint_arc(link);
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::nic}) {
      if (is(link.a, kind) && is(link.b, kind)) return paint_sideways(link);
    }
    if (link.a == link.b) return;
    const std::size_t upper = layout_.boxes[link.a].y <= layout_.boxes[link.b].y ? link.a : link.b;
    paint_down(link, upper, upper == link.a ? link.b : link.a);
  }

  [[nodiscard]] bool is_wide(std::size_t device) const {
    return is(device, DeviceKind::nvswitch) || is(device, DeviceKind::network_switch);
  }

  /// From the bottom of the upper device to the top of the lower one.
  void paint_down(const DrawnLink& link, std::size_t upper, std::size_t lower) {
    const PlacedBox& above = layout_.boxes[upper];
    const PlacedBox& below = layout_.boxes[lower];
    double x1 = is_wide(upper) && !is_wide(lower) ? below.x : above.x;
    double x2 = is_wide(lower) && !is_wide(upper) ? above.x : below.x;
    const bool to_adapter = is(upper, DeviceKind::nic) && !is(lower, DeviceKind::nic);
    if (to_adapter && std::abs(x1 - x2) > 4) x2 += std::clamp(x1 - x2, -below.width / 2 + 12, below.width / 2 - 12);
    const double bend = (below.y - above.bottom()) * 0.5;
    if (std::abs(x1 - x2) < 1) {
      svg_.line(x1, above.bottom(), x2, below.y, stroke(link));
    } else {
      svg_.path(SvgWriter::move_to(x1, above.bottom()) +
                    SvgWriter::curve_to(x1, above.bottom() + bend, x2, below.y - bend, x2, below.y),
                stroke(link));
    }
    // Towards the lower end wires are further apart; the way down from an adapter is long and passes others.
    const bool far_switch = is(lower, DeviceKind::pcie_switch) && std::abs(x1 - x2) > 140;
    const double along = is_wide(upper) ? 0.35 : to_adapter ? 0.1 : far_switch ? 0.4 : 0.55;
    const double x = x1 + (x2 - x1) * along * along * (3 - 2 * along);
    add_label(link, x, std::max(above.bottom() + (below.y - above.bottom()) * along, above.bottom() + 14));
  }

  void paint_sideways(const DrawnLink& link) {
    const bool forward = layout_.boxes[link.a].x < layout_.boxes[link.b].x;
    const PlacedBox& left = layout_.boxes[forward ? link.a : link.b];
    const PlacedBox& right = layout_.boxes[forward ? link.b : link.a];
    const bool between = std::ranges::any_of(
        layout_.boxes, [&](const PlacedBox& box) { return box.y == left.y && box.x > left.x && box.x < right.x; });
    const double y = left.y + left.height / 2;
    const double middle = (left.x + right.x) / 2;
    if (!between && right.left() - left.right() > 70) {
      svg_.line(left.right(), y, right.left(), y, stroke(link));
      return add_label(link, middle, y - 14);
    }
    const double rise = 30 + (right.x - left.x) * 0.12;
    svg_.path(SvgWriter::move_to(left.x + 20, left.y) +
                  SvgWriter::curve_to(left.x + 60, left.y - rise, right.x - 60, left.y - rise, right.x - 20, left.y),
              stroke(link));
    add_label(link, middle, left.y - rise * 0.75);
  }

  /// Below the GPUs, deeper the further apart they are.
  void paint_arc(const DrawnLink& link) {
    const auto index = static_cast<std::size_t>(&link - graph_.links.data());
    const double x1 = port(link.a, index);
    const double x2 = port(link.b, index);
    const double top = layout_.boxes[link.a].bottom();
    const double depth = arc_depth(layout_, link);
    const double control = top + depth * 4 / 3;
    svg_.path(SvgWriter::move_to(x1, top) + SvgWriter::curve_to(x1, control, x2, control, x2, top), stroke(link));
    labels_.push_back({(x1 + x2) / 2, top + depth + 3, fmt::format("x{} {}", link.lanes, rate_text(link)), "",
                       link_colour(link.kind)});
  }

  static std::string rate_text(const DrawnLink& link) { return to_text(link.rate); }

  void add_label(const DrawnLink& link, double x, double y) {
    const std::string count = link.count > 1 ? fmt::format("{} x ", link.count) : "";
    labels_.push_back({x, y - 2, count + link.type, rate_text(link), link_colour(link.kind)});
  }

  /// On a white plate, to be read on top of the lines.
  void paint_label(const Label& label) {
    constexpr double kSize = 9.5;
    constexpr double kCharacter = 5.2;
    const std::size_t longest = std::max(label.first.size(), label.second.size());
    const double plate = kCharacter * static_cast<double>(longest) + 4;
    const double height = label.second.empty() ? 12 : 23;
    svg_.rect(label.x - plate / 2, label.y - 9, plate, height, {.fill = "#ffffff", .radius = 3, .opacity = 0.92});
    const SvgText style{.size = kSize, .fill = label.colour};
    svg_.text(label.x, label.y, label.first, style);
    if (!label.second.empty()) svg_.text(label.x, label.y + 11, label.second, style);
  }

  void paint_box(std::size_t device) {
    const DrawnDevice& drawn = graph_.devices[device];
    const PlacedBox& box = layout_.boxes[device];
    const BoxLook& look = kLooks[static_cast<std::size_t>(drawn.kind)];
    svg_.rect(box.left(), box.y, box.width, box.height,
              {.fill = look.fill, .stroke = look.stroke, .stroke_width = 1.5, .radius = 6});
    const double middle = box.y + box.height / 2;
    svg_.text(box.x, drawn.detail.empty() ? middle + 4 : middle - 2, drawn.name, {.size = 12, .bold = true});
    if (!drawn.detail.empty()) svg_.text(box.x, middle + 12, drawn.detail, {.size = 10, .fill = "#444444"});
  }

  [[nodiscard]] std::vector<std::pair<std::string_view, std::string>> wire_kinds() const {
    std::map<std::string_view, std::set<std::string>> types;
    for (const DrawnLink& link : graph_.links) types[link.kind].insert(link.type.substr(0, link.type.find(' ')));
    std::vector<std::pair<std::string_view, std::string>> kinds;
    for (const auto& [kind, names] : types) kinds.emplace_back(kind, fmt::format("{}", fmt::join(names, ", ")));
    return kinds;
  }

  [[nodiscard]] std::vector<std::string> notes() const {
    std::vector<std::string> lines;
    const bool staged = std::ranges::any_of(report_.classes, [](const PairClass& known) { return known.staged; });
    if (staged)
      lines.emplace_back("These cards do not copy to each other over PCIe: such copies go through host memory.");
    if (graph_.left_out > 0) lines.push_back(fmt::format("{} more GPUs of the box are not drawn.", graph_.left_out));
    return lines;
  }

  [[nodiscard]] double legend_height() const { return 20 + kLegendRow * static_cast<double>(1 + notes().size()) + 14; }

  void paint_legend() {
    double y = layout_.height + 20 + (report_.nodes > 1 ? 10 : 0);
    double x = 40;
    for (const auto& [kind, words] : wire_kinds()) {
      const double room = 40 + 6.2 * static_cast<double>(words.size());
      if (x > 40 && x + room > width() - 20) {
        x = 40;
        y += kLegendRow;
      }
      svg_.line(x, y, x + 24, y, {.stroke = link_colour(kind), .stroke_width = 3});
      svg_.text(x + 30, y + 4, words, {.size = 11, .anchor = "start"});
      x += room + 14;
    }
    for (const std::string& note : notes()) {
      y += kLegendRow;
      svg_.text(40, y + 4, note, {.size = 11, .fill = "#9c2d2d", .anchor = "start"});
    }
  }

  const TopologyReport& report_;
  DrawnGraph graph_;
  DrawnLayout layout_;
  std::map<std::size_t, std::vector<std::size_t>> ports_;  // links by GPU, left to right
  std::vector<Label> labels_;
  SvgWriter svg_;
};

}  // namespace

std::string topology_svg(const TopologyReport& report, const Cluster& cluster) {
  return Painter(report, drawn_graph(cluster, report.cards)).paint();
}

}  // namespace gpuscale

#include <array>
#include <fmt/format.h>

#include "report/text_style.hpp"
#include "study/drawn_graph.hpp"
#include "study/topology_drawing.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

/// A text as Graphviz quotes it; a second line may follow.
std::string label(std::string_view first, std::string_view second = "") {
  const auto escaped = [](std::string_view text) {
    std::string result;
    for (const char c : printable(text)) {
      if (c == '"' || c == '\\') result += '\\';
      result += c;
    }
    return result;
  };
  return '"' + escaped(first) + (second.empty() ? "" : "\\n") + escaped(second) + '"';
}

std::string_view fill_of(DeviceKind kind) {
  constexpr std::array<std::string_view, 7> kFills = {"#e6f3df", "#fdeedd", "#f0f1f3", "#e3edf8",
                                                      "#d8eccb", "#f3e8f8", "#ecdcf3"};
  return kFills[static_cast<std::size_t>(kind)];
}

}  // namespace

std::string topology_dot(const TopologyReport& report, const Cluster& cluster) {
  const DrawnGraph graph = drawn_graph(cluster, report.cards);
  std::string text = "graph topology {\n";
  text += fmt::format("  label={};\n  labelloc=t;\n  rankdir=TB;\n", label(report.title));
  text += "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\"];\n";
  text += "  edge [fontname=\"Helvetica\", fontsize=9];\n";
  for (std::size_t i = 0; i < graph.devices.size(); ++i) {
    const DrawnDevice& device = graph.devices[i];
    text += fmt::format("  d{} [label={}, fillcolor=\"{}\"];\n", i, label(device.name, device.detail),
                        fill_of(device.kind));
  }
  for (std::size_t kind = 0; kind < kDeviceKindNames.size(); ++kind) {
    std::string same;
    for (std::size_t i = 0; i < graph.devices.size(); ++i) {
      const bool fits = graph.devices[i].kind == static_cast<DeviceKind>(kind) && graph.devices[i].level == 0;
      if (fits && graph.devices[i].kind != DeviceKind::pcie_switch) same += fmt::format(" d{};", i);
    }
    if (!same.empty()) text += fmt::format("  {{ rank=same;{} }}\n", same);
  }
  for (const DrawnLink& link : graph.links) {
    const std::string count = link.count > 1 ? fmt::format("{} x ", link.count) : "";
    text += fmt::format("  d{} -- d{} [label={}, color=\"{}\", penwidth={}];\n", link.a, link.b,
                        label(count + link.type, to_text(link.rate)), link_colour(link.kind),
                        link.kind == "nvlink" ? 1 + link.lanes / 2 : 2);
  }
  return text + "}\n";
}

}  // namespace gpuscale

#include "study/topology_tables.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <set>

#include "study/name_ranges.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::string_view kStagedNote = "* through host memory: these cards do not copy to each other over PCIe";

std::string gigabytes(BytesPerSecond rate) { return number_text(rate.count() / 1e9); }
std::string microseconds(Seconds time) { return fmt::format("{:.2f}", time.count() * 1e6); }
std::string range_text(const std::string& least, const std::string& most) {
  return least == most ? least : least + " to " + most;
}

TextColumn column(std::string title, bool right = true) {
  return {.title = std::move(title), .right = right, .cells = {}};
}

std::vector<std::string> legend(const std::set<JoinKind>& kinds) {
  std::vector<std::string> lines;
  for (const JoinKind kind : kinds) {
    const std::string word = kind == JoinKind::nvlink ? "NV#" : Join{kind, 0}.text();
    lines.push_back(fmt::format("{}: {}", word, meaning(kind)));
  }
  return lines;
}

std::set<JoinKind> kinds_in_matrix(const TopologyReport& report) {
  std::set<JoinKind> kinds;
  for (const std::vector<Join>& row : report.joins) {
    for (const Join& join : row) kinds.insert(join.kind);
  }
  return kinds;
}

std::set<JoinKind> kinds_of_classes(const TopologyReport& report) {
  std::set<JoinKind> kinds;
  for (const PairClass& known : report.classes) kinds.insert(known.join.kind);
  return kinds;
}

TopologySection join_section(const TopologyReport& report) {
  TopologySection section{"How devices are joined", {column("", false)}, legend(kinds_in_matrix(report)), true};
  std::vector<const ReportedDevice*> devices;
  for (const ReportedDevice& gpu : report.gpus) devices.push_back(&gpu);
  for (const ReportedDevice& adapter : report.adapters) devices.push_back(&adapter);
  for (const ReportedDevice* device : devices) section.columns.front().cells.push_back(device->name);
  for (std::size_t to = 0; to < devices.size(); ++to) {
    TextColumn& cells = section.columns.emplace_back(column(devices[to]->name, false));
    for (std::size_t from = 0; from < devices.size(); ++from) cells.cells.push_back(report.joins[from][to].text());
  }
  TextColumn& cpus = section.columns.emplace_back(column("CPU", false));
  for (const ReportedDevice* device : devices) cpus.cells.push_back(device->cpu.empty() ? "-" : device->cpu);
  return section;
}

TopologySection pair_section(const TopologyReport& report, std::string title,
                             const std::function<std::string(const ReportedPair&)>& text) {
  TopologySection section{std::move(title), {column("", false)}, {}, true};
  for (const ReportedDevice& gpu : report.gpus) {
    section.columns.front().cells.push_back(gpu.name);
    section.columns.push_back(column(gpu.name));
    section.columns.back().cells.assign(report.gpus.size(), "-");
  }
  for (const ReportedPair& pair : report.pairs) section.columns[pair.to + 1].cells[pair.from] = text(pair);
  return section;
}

bool any_staged(const TopologyReport& report) {
  return std::ranges::any_of(report.classes, [](const PairClass& known) { return known.staged; });
}

void add_matrices(std::vector<TopologySection>& sections, const TopologyReport& report) {
  sections.push_back(join_section(report));
  if (report.pairs.empty()) return;
  sections.push_back(pair_section(report, "One copy alone, GB/s (row to column)", [](const ReportedPair& pair) {
    return gigabytes(pair.alone) + (pair.staged ? "*" : "");
  }));
  if (any_staged(report)) sections.back().notes.emplace_back(kStagedNote);
  if (report.all_pairs) {
    sections.push_back(pair_section(report, "Every GPU to every other at once, GB/s",
                                    [](const ReportedPair& pair) { return gigabytes(pair.together); }));
  }
  sections.push_back(pair_section(report, "Latency of the hardware on the way, us",
                                  [](const ReportedPair& pair) { return microseconds(pair.latency); }));
}

TopologySection class_section(const TopologyReport& report, bool with_legend) {
  TopologySection section{"Pairs of GPUs by how they are joined",
                          {column("joined", false), column("pairs, each way"), column("one copy alone, GB/s"),
                           column("latency, us"), column("through", false)},
                          {},
                          false};
  for (const PairClass& known : report.classes) {
    section.columns[0].cells.push_back(known.join.text());
    section.columns[1].cells.push_back(std::to_string(known.pairs));
    section.columns[2].cells.push_back(range_text(gigabytes(known.slowest), gigabytes(known.fastest)));
    section.columns[3].cells.push_back(range_text(microseconds(known.least_latency), microseconds(known.most_latency)));
    section.columns[4].cells.emplace_back(known.staged ? "host memory" : "nothing else");
  }
  if (report.gpus.size() < report.gpu_count) {
    section.notes.emplace_back("pairs within the first box, and of its first GPU with a sample of the other boxes");
  }
  if (with_legend) {
    const std::vector<std::string> lines = legend(kinds_of_classes(report));
    section.notes.insert(section.notes.end(), lines.begin(), lines.end());
  }
  return section;
}

/// GPUs with the same rates share a row.
TopologySection host_section(const TopologyReport& report) {
  TopologySection section{
      "Copies with host memory, GB/s",
      {column("", false), column("from host"), column("to host"), column("all at once: from host"), column("to host")},
      {},
      false};
  std::vector<std::array<std::string, 4>> rates;
  std::vector<std::vector<std::string>> names;
  for (const ReportedDevice& gpu : report.gpus) {
    const std::array<std::string, 4> own = {gigabytes(gpu.from_host), gigabytes(gpu.to_host),
                                            gigabytes(gpu.all_from_host), gigabytes(gpu.all_to_host)};
    const auto found = std::ranges::find(rates, own);
    if (found == rates.end()) {
      rates.push_back(own);
      names.push_back({gpu.name});
    } else {
      names[static_cast<std::size_t>(found - rates.begin())].push_back(gpu.name);
    }
  }
  for (std::size_t i = 0; i < rates.size(); ++i) {
    section.columns[0].cells.push_back(name_ranges(names[i]));
    for (std::size_t rate = 0; rate < rates[i].size(); ++rate)
      section.columns[rate + 1].cells.push_back(rates[i][rate]);
  }
  return section;
}

std::string halves_text(const ReportedHalves& halves) {
  return fmt::format("{} against {}", halves.first, halves.second);
}

TopologySection together_section(const TopologyReport& report) {
  TopologySection section{"Many copies at once, GB/s",
                          {column("", false), column("slowest copy"), column("all together"), column("", false)},
                          {},
                          false};
  const auto row = [&](std::string what, std::string slowest, BytesPerSecond total, std::string how) {
    section.columns[0].cells.push_back(std::move(what));
    section.columns[1].cells.push_back(std::move(slowest));
    section.columns[2].cells.push_back(gigabytes(total));
    section.columns[3].cells.push_back(std::move(how));
  };
  section.columns[3].wraps = true;
  if (report.ring) row("ring", gigabytes(report.ring->slowest), report.ring->total, "every GPU to the next");
  if (report.all_pairs) {
    row("all pairs", gigabytes(report.all_pairs->slowest), report.all_pairs->total, "every GPU to every other");
  }
  if (report.bisection) {
    row("bisection, worst", "", report.bisection->worst.rate, halves_text(report.bisection->worst));
    row("bisection, best", "", report.bisection->best.rate, halves_text(report.bisection->best));
    section.notes.push_back("bisection: one way, with the same the other way; " + report.bisection->method);
  }
  return section;
}

}  // namespace

std::string gpus_in_words(const TopologyReport& report) {
  return report.cards.size() > 1 ? report.gpu : fmt::format("{} x {}", report.gpu_count, report.gpu);
}

std::vector<std::string> topology_head(const TopologyReport& report) {
  std::vector<std::string> lines;
  lines.push_back(report.title == report.machine ? report.title : fmt::format("{} ({})", report.title, report.machine));
  std::vector<std::string> counts;
  for (const auto& [kind, count] : report.device_counts) counts.push_back(fmt::format("{} {}", count, kind));
  const std::string boxes =
      report.nodes == 1 ? "" : fmt::format(", {} boxes joined by {}", report.nodes, report.fabric);
  const std::string_view who = report.peer_to_peer        ? "which may"
                               : report.some_peer_to_peer ? "some of which may"
                                                          : "which may not";
  lines.push_back(fmt::format("{}, {} copy to each other over PCIe{}", gpus_in_words(report), who, boxes));
  lines.push_back(fmt::format("{}; {} links one way", fmt::join(counts, ", "), report.links));
  return lines;
}

std::vector<TopologySection> topology_sections(const TopologyReport& report, bool matrices) {
  std::vector<TopologySection> sections;
  if (matrices) add_matrices(sections, report);
  if (!report.classes.empty()) sections.push_back(class_section(report, !matrices));
  if (!report.gpus.empty() && report.gpus.front().from_host.count() > 0) sections.push_back(host_section(report));
  if (report.ring || report.all_pairs || report.bisection) sections.push_back(together_section(report));
  return sections;
}

}  // namespace gpuscale

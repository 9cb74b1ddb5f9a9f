#include "study/topology_report.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "study/name_ranges.hpp"
#include "topology/cards.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kSampledBoxes = 64;

class Describer {
 public:
  Describer(const Hardware& hardware, const Cluster& cluster)
      : spec_(hardware.cluster), topology_(cluster.topology), ranks_(cluster.ranks), joins_(cluster.topology) {
    report_.provenance = hardware.provenance;
  }

  TopologyReport describe() {
    describe_cluster();
    choose_devices();
    add_joins();
    add_pairs();
    add_far_pairs();
    add_patterns();
    add_bisection();
    return std::move(report_);
  }

 private:
  void describe_cluster() {
    report_.title = spec_.machine.name.empty() ? spec_.machine.id : spec_.machine.name;
    report_.machine = spec_.machine.id;
    report_.gpu = cards_in_words(spec_, &Gpu::id);
    for (std::size_t kind = 0; kind < card_kinds(spec_); ++kind) report_.cards.push_back(card(spec_, kind).id);
    const auto copies = [&](DeviceId gpu) { return topology_.device(gpu).peer_to_peer; };
    report_.peer_to_peer = std::ranges::all_of(ranks_, copies);
    report_.some_peer_to_peer = std::ranges::any_of(ranks_, copies);
    report_.nodes = spec_.nodes;
    if (spec_.fabric) report_.fabric = spec_.fabric->id;
    report_.gpu_count = ranks_.size();
    report_.links = topology_.links().size();
    for (std::size_t kind = 0; kind < kDeviceKindNames.size(); ++kind) {
      const auto count = std::ranges::count(topology_.devices(), static_cast<DeviceKind>(kind), &Device::kind);
      if (count > 0) report_.device_counts.emplace_back(kDeviceKindNames[kind], count);
    }
  }

  /// All GPUs that take part if their pairs can be listed, those of the first box otherwise.
  void choose_devices() {
    const int first_node = topology_.device(ranks_.front()).node;
    for (const DeviceId gpu : ranks_) {
      if (ranks_.size() <= kPairedGpus || topology_.device(gpu).node == first_node) gpus_.push_back(gpu);
    }
    std::vector<int> nodes;
    for (const DeviceId gpu : gpus_) nodes.push_back(topology_.device(gpu).node);
    for (std::size_t i = 0; i < topology_.devices().size(); ++i) {
      const Device& device = topology_.devices()[i];
      if (device.kind == DeviceKind::nic && std::ranges::find(nodes, device.node) != nodes.end()) {
        report_.adapters.push_back(reported(DeviceId(i)));
      }
    }
    for (const DeviceId gpu : gpus_) report_.gpus.push_back(reported(gpu));
    add_host_rates();
  }

  ReportedDevice reported(DeviceId id) {
    ReportedDevice device;
    device.id = id;
    device.name = topology_.device(id).name;
    device.kind = topology_.device(id).kind;
    if (device.kind == DeviceKind::gpu && report_.cards.size() > 1) {
      device.card = report_.cards[topology_.device(id).card];
    }
    if (const DeviceId cpu = joins_.cpu_of(id); cpu.valid()) device.cpu = topology_.device(cpu).name;
    return device;
  }

  void add_host_rates() {
    std::vector<Copy> reads;
    std::vector<Copy> writes;
    for (const DeviceId gpu : gpus_) {
      const DeviceId memory = topology_.host_memory(gpu);
      if (!memory.valid()) return;
      reads.push_back({memory, gpu});
      writes.push_back({gpu, memory});
    }
    const std::vector<BytesPerSecond> all_read = rates_together(topology_, reads);
    const std::vector<BytesPerSecond> all_write = rates_together(topology_, writes);
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      ReportedDevice& device = report_.gpus[i];
      device.from_host = rate_alone(topology_, reads[i]);
      device.to_host = rate_alone(topology_, writes[i]);
      device.all_from_host = all_read[i];
      device.all_to_host = all_write[i];
    }
  }

  void add_joins() {
    std::vector<DeviceId> devices = gpus_;
    for (const ReportedDevice& adapter : report_.adapters) devices.push_back(adapter.id);
    for (const DeviceId row : devices) {
      std::vector<Join>& joins = report_.joins.emplace_back();
      for (const DeviceId column : devices) joins.push_back(joins_.between(row, column));
    }
  }

  ReportedPair pair_of(DeviceId from, DeviceId to) {
    const Route& route = topology_.route(from, to);
    ReportedPair pair;
    pair.join = joins_.between(from, to);
    pair.staged = route.staged;
    pair.alone = rate_alone(topology_, {from, to});
    pair.latency = route.latency;
    count(pair);
    return pair;
  }

  void add_pairs() {
    std::vector<Copy> copies;
    for (std::size_t from = 0; from < gpus_.size(); ++from) {
      for (std::size_t to = 0; to < gpus_.size(); ++to) {
        if (from == to) continue;
        ReportedPair pair = pair_of(gpus_[from], gpus_[to]);
        pair.from = from;
        pair.to = to;
        report_.pairs.push_back(std::move(pair));
        copies.push_back({gpus_[from], gpus_[to]});
      }
    }
    const bool all = gpus_.size() == ranks_.size();
    if (!all || copies.empty()) return;
    const std::vector<BytesPerSecond> rates = rates_together(topology_, copies);
    for (std::size_t i = 0; i < rates.size(); ++i) report_.pairs[i].together = rates[i];
    report_.all_pairs = pattern(rates);
  }

  /// From the first box to the same places of others, near ones and far ones.
  void add_far_pairs() {
    if (gpus_.size() == ranks_.size()) return;
    std::vector<DeviceId> firsts;  // of each other box
    for (const DeviceId gpu : ranks_) {
      const int last = firsts.empty() ? topology_.device(gpus_.front()).node : topology_.device(firsts.back()).node;
      if (topology_.device(gpu).node != last) firsts.push_back(gpu);
    }
    const std::size_t step = std::max<std::size_t>(1, firsts.size() / kSampledBoxes);
    for (std::size_t box = 0; box < firsts.size(); box += step) static_cast<void>(pair_of(gpus_.front(), firsts[box]));
    if (!firsts.empty()) static_cast<void>(pair_of(gpus_.front(), firsts.back()));
  }

  void count(const ReportedPair& pair) {
    const auto same = [&](const PairClass& known) { return known.join == pair.join && known.staged == pair.staged; };
    auto found = std::ranges::find_if(report_.classes, same);
    if (found == report_.classes.end()) {
      report_.classes.push_back({pair.join, pair.staged, 0, pair.alone, pair.alone, pair.latency, pair.latency});
      found = report_.classes.end() - 1;
    }
    found->pairs += 1;
    found->slowest = std::min(found->slowest, pair.alone);
    found->fastest = std::max(found->fastest, pair.alone);
    found->least_latency = std::min(found->least_latency, pair.latency);
    found->most_latency = std::max(found->most_latency, pair.latency);
  }

  static PatternRates pattern(const std::vector<BytesPerSecond>& rates) {
    PatternRates result;
    result.copies = rates.size();
    result.slowest = *std::ranges::min_element(rates);
    for (const BytesPerSecond rate : rates) result.total += rate;
    return result;
  }

  void add_patterns() {
    std::ranges::sort(report_.classes, {}, [](const PairClass& known) {
      return std::tuple(known.join.kind, -known.join.nvlinks, known.staged);
    });
    if (ranks_.size() < 2 || ranks_.size() > kSolvedGpus) return;
    std::vector<Copy> copies;
    for (std::size_t i = 0; i < ranks_.size(); ++i) copies.push_back({ranks_[i], ranks_[(i + 1) % ranks_.size()]});
    report_.ring = pattern(rates_together(topology_, copies));
  }

  void add_bisection() {
    if (ranks_.size() < 2 || ranks_.size() > kSolvedGpus) return;
    const Bisection found = bisect(topology_, ranks_);
    ReportedBisection result;
    for (const auto& [halves, out] : {std::pair(&found.worst, &result.worst), std::pair(&found.best, &result.best)}) {
      *out = {names(halves->first), names(halves->second), halves->rate};
    }
    result.method = found.exhaustive
                        ? fmt::format("{} to halve them, every GPU sending to every GPU of the other half",
                                      found.tried == 1 ? "the one way" : fmt::format("all {} ways", found.tried))
                        : fmt::format(
                              "{} ways of many, the first half against the second, every other one against the "
                              "rest{}, every GPU sending to its counterpart; another may be worse or better",
                              found.tried, found.tried > 2 ? ", half of each box against its other half" : "");
    report_.bisection = std::move(result);
  }

  [[nodiscard]] std::string names(const std::vector<DeviceId>& devices) const {
    std::vector<std::string> all;
    for (const DeviceId id : devices) all.push_back(topology_.device(id).name);
    return name_ranges(all);
  }

  const ClusterSpec& spec_;
  const Topology& topology_;
  const std::vector<DeviceId>& ranks_;
  DeviceJoins joins_;
  std::vector<DeviceId> gpus_;
  TopologyReport report_;
};

}  // namespace

TopologyReport describe(const Hardware& hardware, const Cluster& cluster) {
  return Describer(hardware, cluster).describe();
}

}  // namespace gpuscale

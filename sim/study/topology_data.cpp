#include <nlohmann/json.hpp>
#include <ostream>

#include "report/csv.hpp"
#include "report/fields.hpp"
#include "report/version.hpp"
#include "study/topology_output.hpp"

namespace gpuscale {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const ReportedDevice& device) {
  Json object = {{"name", device.name}};
  if (!device.card.empty()) object["gpu"] = device.card;
  if (!device.cpu.empty()) object["cpu"] = device.cpu;
  if (device.kind != DeviceKind::gpu || device.from_host.count() <= 0) return object;
  object["from_host_bytes_per_s"] = device.from_host.count();
  object["to_host_bytes_per_s"] = device.to_host.count();
  object["all_from_host_bytes_per_s"] = device.all_from_host.count();
  object["all_to_host_bytes_per_s"] = device.all_to_host.count();
  return object;
}

Json to_json(const PairClass& known) {
  return {{"joined", known.join.text()},
          {"staged", known.staged},
          {"pairs", known.pairs},
          {"slowest_bytes_per_s", known.slowest.count()},
          {"fastest_bytes_per_s", known.fastest.count()},
          {"least_latency_s", known.least_latency.count()},
          {"most_latency_s", known.most_latency.count()}};
}

Json to_json(const PatternRates& rates) {
  return {{"copies", rates.copies},
          {"slowest_bytes_per_s", rates.slowest.count()},
          {"total_bytes_per_s", rates.total.count()}};
}

Json to_json(const ReportedHalves& halves) {
  return {{"first", halves.first}, {"second", halves.second}, {"bytes_per_s", halves.rate.count()}};
}

/// The keys of a pair, which are also the columns of the CSV.
Json to_json(const ReportedPair& pair, const TopologyReport& report) {
  Json object = {{"from", report.gpus[pair.from].name},
                 {"to", report.gpus[pair.to].name},
                 {"joined", pair.join.text()},
                 {"staged", pair.staged},
                 {"alone_bytes_per_s", pair.alone.count()}};
  if (report.all_pairs) object["together_bytes_per_s"] = pair.together.count();
  object["latency_s"] = pair.latency.count();
  return object;
}

template <class Items, class... More>
Json array_of(const Items& items, const More&... more) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(to_json(item, more...));
  return array;
}

Json adapter_joins(const TopologyReport& report) {
  Json joins = Json::array();
  for (std::size_t gpu = 0; gpu < report.gpus.size(); ++gpu) {
    for (std::size_t i = 0; i < report.adapters.size(); ++i) {
      joins.push_back({{"gpu", report.gpus[gpu].name},
                       {"adapter", report.adapters[i].name},
                       {"joined", report.joins[gpu][report.gpus.size() + i].text()}});
    }
  }
  return joins;
}

FieldValue field(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number()) return value.get<double>();
  return value.get<std::string>();
}

}  // namespace

void write_csv(std::ostream& out, const TopologyReport& report) {
  out << "from,to,joined,staged,alone_bytes_per_s," << (report.all_pairs ? "together_bytes_per_s," : "")
      << "latency_s\n";
  for (const ReportedPair& pair : report.pairs) {
    bool first = true;
    const Json object = to_json(pair, report);
    for (const auto& [key, value] : object.items()) {
      out << (first ? "" : ",") << csv_cell(plain_text(field(value)));
      first = false;
    }
    out << '\n';
  }
}

void write_json(std::ostream& out, const TopologyReport& report) {
  Json document = {{"schema_version", kSchemaVersion}, {"program_version", kProgramVersion}};
  document["machine"] = report.machine;
  document["title"] = report.title;
  document["gpu"] = report.gpu;
  document["peer_to_peer"] = report.peer_to_peer;
  document["nodes"] = report.nodes;
  if (!report.fabric.empty()) document["fabric"] = report.fabric;
  document["gpu_count"] = report.gpu_count;
  for (const auto& [kind, count] : report.device_counts) document["devices"][kind] = count;
  document["links"] = report.links;
  document["gpus"] = array_of(report.gpus);
  document["adapters"] = array_of(report.adapters);
  document["adapter_joins"] = adapter_joins(report);
  document["pairs"] = array_of(report.pairs, report);
  document["classes"] = array_of(report.classes);
  if (report.ring) document["ring"] = to_json(*report.ring);
  if (report.all_pairs) document["all_pairs"] = to_json(*report.all_pairs);
  if (report.bisection) {
    document["bisection"] = {{"worst", to_json(report.bisection->worst)},
                             {"best", to_json(report.bisection->best)},
                             {"method", report.bisection->method}};
  }
  document["provenance"] = report.provenance;
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace gpuscale

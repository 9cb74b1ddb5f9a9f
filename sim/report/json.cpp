#include "report/json.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "report/facts.hpp"
#include "report/field_json.hpp"
#include "report/fields.hpp"
#include "report/version.hpp"

namespace gpuscale {

nlohmann::ordered_json field_json(const FieldValue& value) {
  return std::visit(
      [](const auto& v) -> nlohmann::ordered_json {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::monostate>) {
          return nullptr;
        } else {
          return v;
        }
      },
      value);
}

namespace {

template <class Number>
bool reads_as(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const std::from_chars_result result = std::from_chars(text.data(), end, number);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

nlohmann::ordered_json setting_json(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  if (std::int64_t whole = 0; reads_as(text, whole)) return whole;
  if (double real = 0; reads_as(text, real) && std::isfinite(real)) return real;
  return text;
}

namespace {

using Json = nlohmann::ordered_json;

Json settings_of(const Report& report) {
  Json settings = Json::object();
  for (const auto& [key, value] : report.settings) settings[key] = setting_json(value);
  return settings;
}

Json links_of(const Report& report) {
  Json links = Json::array();
  for (const LinkLoad& link : report.links) {
    links.push_back({{"name", link.name}, {"load", link.load}, {"carried_bytes", std::llround(link.carried.count())}});
  }
  return links;
}

Json exchanges_of(const Report& report) {
  Json exchanges = Json::array();
  for (const ExchangeReport& exchange : report.exchanges) {
    exchanges.push_back({{"purpose", exchange.purpose},
                         {"exposed_s", exchange.exposed.count()},
                         {"sent_bytes_per_gpu", std::llround(exchange.sent.count())},
                         {"uncompressed_bytes_per_gpu", std::llround(exchange.uncompressed.count())}});
  }
  return exchanges;
}

/// By pipeline stage, where there are several.
Json stages_of(const Report& report) {
  Json stages = Json::array();
  for (const Footprint& stage : report.memory.stages) {
    Json object = Json::object();
    for (const MemoryPart& part : kMemoryParts) {
      std::string key(part.name);
      std::ranges::replace(key, ' ', '_');
      object[key + "_bytes"] = std::llround((stage.*part.size).count());
    }
    object["total_bytes"] = std::llround(stage.total().count());
    stages.push_back(std::move(object));
  }
  return stages;
}

Json cards_of(const Report& report) {
  Json cards = Json::array();
  for (const CardReport& card : report.cards) {
    cards.push_back({{"gpu", card.gpu},
                     {"gpus", card.gpus},
                     {"least_batch_per_gpu", card.least_batch},
                     {"most_batch_per_gpu", card.most_batch},
                     {"compute_s", card.compute.count()},
                     {"memory_total_bytes", std::llround(card.memory.count())},
                     {"memory_capacity_bytes", std::llround(card.capacity.count())},
                     {"fits", card.fits}});
  }
  return cards;
}

Json layers_of(const Report& report) {
  Json layers = Json::array();
  for (const LayerReport& layer : report.layers) {
    layers.push_back({{"name", layer.name},
                      {"kind", layer.kind},
                      {"out", layer.out},
                      {"parameters", std::llround(layer.parameters)},
                      {"activation_bytes", std::llround(layer.activation.count())},
                      {"error_bytes", std::llround(layer.error.count())},
                      {"saved_bytes", std::llround(layer.saved.count())},
                      {"forward_s", layer.forward.count()},
                      {"backward_s", layer.backward.count()}});
  }
  return layers;
}

void add_report(Json& point, const Report& report) {
  for (const Field& field : report_fields()) {
    const FieldValue value = value_of(field, report);
    if (std::holds_alternative<std::monostate>(value)) continue;
    const std::size_t dot = field.path.find('.');
    Json& parent = dot == std::string_view::npos ? point : point[std::string(field.path.substr(0, dot))];
    parent[std::string(dot == std::string_view::npos ? field.path : field.path.substr(dot + 1))] = field_json(value);
    if (field.path == "scenario") point["settings"] = settings_of(report);
  }
  if (is_refused(report)) {
    point["problem"] = report.problem;
    return;
  }
  if (!report.cards.empty()) point["gpu_kinds"] = cards_of(report);
  if (!report.exchanges.empty()) point["exchanges"] = exchanges_of(report);
  if (report.memory.stages.size() > 1) point["memory"]["stages"] = stages_of(report);
  point["links"] = links_of(report);
  if (!report.layers.empty()) point["layers"] = layers_of(report);
  point["not_modelled"] = report.not_modelled;
  point["provenance"] = report.provenance;
}

std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

/// Points are written one by one: the tree of a large sweep would not fit in memory.
class PointList {
 public:
  explicit PointList(std::ostream& out) : out_(out) {
    out_ << "{\n  \"schema_version\": " << kSchemaVersion << ",\n  \"program_version\": \"" << kProgramVersion
         << "\",\n";
  }

  void verdict(const std::string& text) { out_ << "  \"verdict\": " << dump(text, -1) << ",\n"; }
  void notes(const std::vector<std::string>& texts) {
    if (!texts.empty()) out_ << "  \"notes\": " << dump(texts, -1) << ",\n";
  }

  void add(const Json& point) {
    out_ << (empty_ ? "  \"points\": [\n    " : ",\n    ");
    empty_ = false;
    for (const char c : dump(point, 2)) {
      out_ << c;
      if (c == '\n') out_ << "    ";  // a newline inside a string is escaped, so this one is layout
    }
  }

  void finish() { out_ << (empty_ ? "  \"points\": []\n}\n" : "\n  ]\n}\n"); }

 private:
  std::ostream& out_;
  bool empty_ = true;
};

}  // namespace

void write_json(std::ostream& out, std::span<const Report> reports) {
  PointList list(out);
  for (const Report& report : reports) {
    Json point = Json::object();
    add_report(point, report);
    list.add(point);
  }
  list.finish();
}

void write_json(std::ostream& out, const Ranking& ranking) {
  PointList list(out);
  list.verdict(ranking.verdict);
  list.notes(ranking.notes);
  for (const RankedReport& entry : ranking.entries) {
    Json point = {{"rank", entry.rank}, {"name", entry.name}, {"relative", entry.relative}, {"why", entry.why}};
    if (is_refused(entry.report)) point = {{"name", entry.name}, {"why", entry.why}};
    add_report(point, entry.report);
    list.add(point);
  }
  list.finish();
}

}  // namespace gpuscale

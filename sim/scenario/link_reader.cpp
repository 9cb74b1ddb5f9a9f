#include "scenario/link_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <memory>
#include <string_view>
#include <system_error>

#include "scenario/data_file.hpp"
#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

constexpr std::array<std::string_view, 7> kLinkKinds = {"pcie",       "nvlink",   "socket", "memory",
                                                        "infiniband", "ethernet", "fabric"};
constexpr std::int64_t kMostLanes = 1024;

LinkProtocol read_protocol(const YamlValue& value, Reading& reading) {
  constexpr double kLeastDelivered = 1e-4;
  MapReader reader(value, "link protocol", "-", reading);
  LinkProtocol protocol;
  protocol.start = reader.quantity<Seconds>("start", Zero::allowed);
  protocol.step = reader.quantity<Seconds>("step", Zero::allowed);
  protocol.delivered = reader.number("delivered", kLeastDelivered, 1.0);
  reader.finish();
  return protocol;
}

std::shared_ptr<const LinkExchange> read_exchange(const YamlValue& value, Reading& reading) {
  MapReader reader(value, "link exchange", "-", reading);
  auto exchange = std::make_shared<LinkExchange>();
  for (std::size_t i = 0; i < kProtocolNames.size(); ++i) {
    const std::string name(kProtocolNames[i]);
    const YamlValue* protocol = reader.find(name);
    if (protocol != nullptr) exchange->protocols[i] = read_protocol(*protocol, reading);
  }
  const YamlValue* in_switch = reader.find("in_switch");
  if (in_switch != nullptr) exchange->in_switch = read_protocol(*in_switch, reading);
  reader.finish();
  return exchange;
}

LinkType read_link_type(const DataSource& data, Reading& reading) {
  LinkType type;
  MapReader reader(*data.map, "link type", "-", reading);
  DataHead head = read_head(reader, data);
  type.id = data.id;
  type.name = std::move(head.name);
  type.source = std::move(head.source);
  type.kind = kLinkKinds[reader.choice("kind", kLinkKinds)];
  const std::optional<BytesPerSecond> lane_rate = reader.optional_quantity<BytesPerSecond>("lane_rate");
  const std::optional<BytesPerSecond> rate = reader.optional_quantity<BytesPerSecond>("rate");
  const YamlValue* lanes = reader.find("lanes");
  const bool written = data.map->find("lane_rate") != nullptr || data.map->find("rate") != nullptr;
  if (!written)
    reading.note(reader.place(), "link type has no 'rate'; add 'rate: 6.8 GB/s', or 'lane_rate' and 'lanes'");
  if (lane_rate && rate) {
    reading.note(reader.place("rate"), "a link type has either 'rate' or 'lane_rate' with 'lanes', not both");
  }
  if (lane_rate && lanes == nullptr) reading.note(reader.place(), "'lane_rate' needs 'lanes', such as [1, 4, 8, 16]");
  if (!lane_rate && rate && lanes != nullptr) {
    reading.note(lanes->place(), "'lanes' needs 'lane_rate', the rate of one lane, in place of 'rate'");
  }
  type.lane_rate = lane_rate ? *lane_rate : rate.value_or(BytesPerSecond(1e9));
  if (lanes != nullptr && !lanes->is_list())
    reading.note(lanes->place(), "'lanes' must be a list, such as [1, 4, 8, 16]");
  if (lanes != nullptr) {
    for (const YamlValue& item : lanes->items) {
      if (const auto count = read_whole(item, 1, kMostLanes, reading)) type.lanes.push_back(static_cast<int>(*count));
    }
  }
  constexpr double kLeastDelivered = 0.01;
  type.delivered = reader.number("delivered", kLeastDelivered, 1.0);
  type.latency = reader.quantity<Seconds>("latency", Zero::allowed);
  constexpr std::array<std::string_view, 2> kDuplex = {"full", "half"};
  type.half_duplex = reader.choice("duplex", kDuplex) == 1;
  if (const YamlValue* exchange = reader.find("exchange")) type.exchange = read_exchange(*exchange, reading);
  reader.finish();
  return type;
}

}  // namespace

std::optional<LinkChoice> read_link_choice(const YamlValue& value, Reading& reading) {
  const std::optional<std::string> text = read_text(value, "link type", reading);
  if (!text) return std::nullopt;
  LinkChoice choice;
  const std::size_t space = text->find(' ');
  choice.type = text->substr(0, space);
  if (space == std::string::npos) return choice;
  std::string_view lanes = std::string_view(*text).substr(space);
  lanes.remove_prefix(std::min(lanes.find_first_not_of(' '), lanes.size()));
  const bool has_x = lanes.starts_with('x');
  if (has_x) lanes.remove_prefix(1);
  const std::from_chars_result result = std::from_chars(lanes.data(), lanes.data() + lanes.size(), choice.lanes);
  const bool is_count =
      result.ec == std::errc() && result.ptr == lanes.data() + lanes.size() && !lanes.starts_with('0');
  if (has_x && is_count && choice.lanes >= 1 && choice.lanes <= kMostLanes) return choice;
  if (has_x && lanes == "0") {
    reading.note(value.place(), fmt::format("{} has no lanes; a link has at least one", in_quotes(*text)));
    return std::nullopt;
  }
  reading.note(
      value.place(),
      fmt::format("{} is not a link type; write its name and how many lanes, such as pcie-3 x16", in_quotes(*text)));
  return std::nullopt;
}

std::optional<LinkOfType> LinkTypes::read(const YamlValue& value, Reading& reading) {
  const std::optional<LinkChoice> choice = read_link_choice(value, reading);
  if (!choice) return std::nullopt;
  auto known = types_.find(choice->type);
  if (known == types_.end()) {
    const std::optional<DataSource> data = find_by_name(choice->type, value.place(), kLinkFiles, reading);
    std::optional<LinkType> type;
    if (data) type = read_link_type(*data, reading);
    known = types_.emplace(choice->type, std::move(type)).first;
  }
  if (!known->second) return std::nullopt;
  const LinkType& type = *known->second;
  const bool lanes_written = value.text.find(' ') != std::string::npos;
  if (type.lanes.empty() && lanes_written) {
    reading.note(value.place(), fmt::format("{} has no lanes; write '{}' alone", type.id, type.id));
    return std::nullopt;
  }
  if (!type.lanes.empty() && !lanes_written) {
    reading.note(value.place(), fmt::format("{} comes in lanes; write how many, such as '{} x{}'", type.id, type.id,
                                            type.lanes.back()));
    return std::nullopt;
  }
  if (!type.lanes.empty() && std::ranges::find(type.lanes, choice->lanes) == type.lanes.end()) {
    reading.note(value.place(), fmt::format("{} does not come in {} lanes; it has x{}", type.id, choice->lanes,
                                            fmt::join(type.lanes, ", x")));
    return std::nullopt;
  }
  return LinkOfType{type, choice->lanes};
}

}  // namespace gpuscale

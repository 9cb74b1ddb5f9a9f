#include "scenario/transport_reader.hpp"

#include <algorithm>
#include <optional>

#include "scenario/data_file.hpp"
#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

std::vector<Protocol> read_protocols(const YamlValue& value, Reading& reading) {
  std::vector<Protocol> protocols;
  if (!value.is_list()) {
    reading.note(value.place(), "'protocols' must be a list, such as [ll, ll128, simple]");
    return protocols;
  }
  for (const YamlValue& item : value.items) {
    const std::optional<std::size_t> index = read_choice(item, "protocol", kProtocolNames, reading);
    if (index) protocols.push_back(static_cast<Protocol>(*index));
  }
  std::ranges::sort(protocols);
  protocols.erase(std::ranges::unique(protocols).begin(), protocols.end());
  return protocols;
}

std::vector<ExchangeAlgorithm> read_algorithms(const YamlValue& value, Reading& reading) {
  std::vector<ExchangeAlgorithm> algorithms;
  if (!value.is_list()) reading.note(value.place(), "'algorithms' must be a list, such as [ring, double_tree]");
  for (const YamlValue& item : value.items) {
    const std::optional<std::size_t> index = read_choice(item, "algorithm", kExchangeAlgorithmNames, reading);
    if (index) algorithms.push_back(static_cast<ExchangeAlgorithm>(*index));
  }
  return algorithms;
}

void read_rates(MapReader& reader, Transport& transport) {
  if (const auto rate = reader.optional_quantity<BytesPerSecond>("direct_rate")) transport.direct_rate = rate;
  if (const auto rate = reader.optional_quantity<BytesPerSecond>("staged_rate")) transport.staged_rate = rate;
  if (const auto rate = reader.optional_quantity<BytesPerSecond>("staged_crowd")) transport.staged_crowd = rate;
  if (const auto rate = reader.optional_quantity<BytesPerSecond>("staged_least")) transport.staged_least = *rate;
  transport.one_process = reader.boolean_or("one_process", transport.one_process);
  transport.server_rate = reader.quantity_or("server_rate", transport.server_rate);
}

void read_costs(MapReader& reader, Transport& transport) {
  transport.start = reader.quantity_or("start", transport.start, Zero::allowed);
  transport.peer = reader.quantity_or("peer", transport.peer, Zero::allowed);
  transport.launch = reader.quantity_or("launch", transport.launch, Zero::allowed);
  transport.launch_peer = reader.quantity_or("launch_peer", transport.launch_peer, Zero::allowed);
  constexpr double kMostPace = 1000.0;
  transport.own_copy = reader.number_or("own_copy", transport.own_copy, 0.0, kMostPace);
  transport.in_switch = reader.boolean_or("in_switch", transport.in_switch);
  transport.in_network = reader.boolean_or("in_network", transport.in_network);
}

}  // namespace

Transport read_transport(const YamlValue& value, const std::string& path, Reading& reading) {
  Transport transport;
  const std::optional<DataSource> data = find_data(value, kTransportFiles, reading);
  if (!data) return transport;
  MapReader reader(*data->map, "transport", value.is_map() ? path : "-", reading);
  read_head(reader, *data);
  const YamlValue* like = reader.find("like");
  if (like != nullptr && like->is_scalar()) {
    transport = read_transport(*like, path, reading);
  } else if (like != nullptr) {
    reading.note(like->place(), "'like' must be the name of a transport");
  }
  constexpr double kMostInterference = 0.95;  // at 1 nothing would ever be computed
  if (like == nullptr) {
    transport.message = reader.quantity<Seconds>("message", Zero::allowed);
    transport.interference = reader.number("interference", 0.0, kMostInterference);
  } else {
    transport.message = reader.quantity_or("message", transport.message, Zero::allowed);
    transport.interference = reader.number_or("interference", transport.interference, 0.0, kMostInterference);
  }
  read_rates(reader, transport);
  read_costs(reader, transport);
  if (const YamlValue* protocols = reader.find("protocols")) transport.protocols = read_protocols(*protocols, reading);
  if (const YamlValue* names = reader.find("algorithms")) transport.algorithms = read_algorithms(*names, reading);
  reader.finish();
  return transport;
}

Transport load_transport(std::string_view name, const Library& library) {
  Reading reading(library);
  YamlValue value;
  value.kind = YamlKind::scalar;
  value.text = std::string(name);
  Transport transport = read_transport(value, "-", reading);
  if (!reading.problems().empty()) throw ScenarioError(reading.problems());
  return transport;
}

}  // namespace gpuscale

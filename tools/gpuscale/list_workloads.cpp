#include <fmt/format.h>

#include "catalogue.hpp"
#include "catalogue_cells.hpp"
#include "scenario/data_file.hpp"
#include "scenario/framework_reader.hpp"
#include "scenario/model_reader.hpp"
#include "scenario/scenario.hpp"
#include "scenario/transport_reader.hpp"
#include "topology/cards.hpp"
#include "workload/lower.hpp"

namespace gpuscale::tool {

namespace {

std::string bucket_text(const ExchangeHabit& habit) {
  if (habit.whole_model) return "whole model";
  return habit.bucket.count() > 0 ? to_text(habit.bucket) : "each tensor";
}

std::int64_t points_of(const std::vector<SweepAxis>& axes) {
  std::int64_t points = 1;
  for (const SweepAxis& axis : axes) points *= static_cast<std::int64_t>(axis.values.size());
  return points;
}

}  // namespace

Catalogue list_models(const Library& library) {
  const auto row = [](const YamlValue& name, Reading& reading) -> std::vector<Cell> {
    const ModelSpec model = read_model(name, "workload.model", reading);
    if (!reading.problems().empty()) return {};
    std::vector<Problem> problems;
    const ModelWork work = lower(model, {}, problems);
    reading.note(problems);
    if (!problems.empty()) return {};
    const double parameters = parameter_count(work);
    const std::int64_t length = work.sequence_length;
    return {cell(model.id),
            cell(model.name),
            cell(model.family),
            {count_text(parameters), static_cast<std::int64_t>(parameters)},
            cell(forward_flop_per_sample(work)),
            length > 0 ? cell(length) : Cell{"-", {}}};
  };
  return read_catalogue(library, "workloads/models",
                        {{"name", "name", false},
                         {"model", "description", false},
                         {"family", "family", false},
                         {"parameters", "parameters"},
                         {"forward a sample", "forward_flop_per_sample"},
                         {"sequence", "sequence"}},
                        row);
}

Catalogue list_frameworks(const Library& library) {
  const auto row = [](const YamlValue& value, Reading& reading) -> std::vector<Cell> {
    const Framework framework = read_framework(value, "framework", reading);
    return {cell(framework.id),
            cell(framework.name),
            cell(std::string(name(framework.exchange.algorithm))),
            cell(bucket_text(framework.exchange)),
            yes_no(framework.exchange.overlap),
            cell(framework.host.forward_operator),
            cell(framework.host.step),
            cell(framework.base_memory)};
  };
  return read_catalogue(library, "workloads/frameworks",
                        {{"name", "name", false},
                         {"framework", "description", false},
                         {"exchange", "exchange", false},
                         {"bucket", "bucket", false},
                         {"overlap", "overlap", false},
                         {"host/operator", "forward_operator_s", true, 3},
                         {"host/step", "step_s", true, 4},
                         {"memory", "base_memory_bytes", true, 5}},
                        row);
}

Catalogue list_transports(const Library& library) {
  const auto row = [](const YamlValue& value, Reading& reading) -> std::vector<Cell> {
    const Transport transport = read_transport(value, "framework.transport", reading);
    const std::optional<DataSource> file = find_data(value, kTransportFiles, reading);
    if (!file || !reading.problems().empty()) return {};
    std::vector<std::string_view> protocols;
    for (const Protocol protocol : transport.protocols)
      protocols.push_back(kProtocolNames[static_cast<std::size_t>(protocol)]);
    std::vector<std::string_view> algorithms;
    for (const ExchangeAlgorithm algorithm : transport.algorithms) algorithms.push_back(name(algorithm));
    return {cell(value.text),
            cell(file->map->find("name")->value.text),
            cell(protocols.empty() ? "-" : fmt::format("{}", fmt::join(protocols, " "))),
            cell(algorithms.empty() ? "all" : fmt::format("{}", fmt::join(algorithms, " "))),
            cell(transport.message),
            cell(transport.direct_rate),
            cell(transport.staged_rate)};
  };
  return read_catalogue(library, "workloads/transports",
                        {{"name", "name", false},
                         {"transport", "description", false},
                         {"protocols", "protocols", false, 2},
                         {"algorithms", "algorithms", false},
                         {"message", "message_s"},
                         {"direct", "direct_rate_bytes_per_s", true, 3},
                         {"staged", "staged_rate_bytes_per_s", true, 4}},
                        row);
}

Catalogue list_scenarios(const Library& library) {
  const auto row = [](const YamlValue& name, Reading& reading) -> std::vector<Cell> {
    try {
      const ScenarioFile file = ScenarioFile::open(reading.library().find("workloads/scenarios", name.text));
      const Scenario scenario = file.resolve(reading.library(), {});
      return {cell(name.text),
              cell(scenario.name),
              cell(scenario.job.transfer ? "-" : scenario.job.model.id),
              cell(cards_in_words(scenario.cluster, &Gpu::id)),
              cell(std::int64_t{scenario.cluster.gpus}),
              cell(points_of(file.sweep()))};
    } catch (const ScenarioError& error) {
      reading.note(error.problems());
      return {};
    }
  };
  return read_catalogue(library, "workloads/scenarios",
                        {{"name", "name", false},
                         {"scenario", "description", false},
                         {"model", "model", false},
                         {"GPU", "gpu", false},
                         {"GPUs", "gpus"},
                         {"points", "points"}},
                        row);
}

}  // namespace gpuscale::tool

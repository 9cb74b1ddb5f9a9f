#include "catalogue.hpp"

#include <array>

#include "catalogue_cells.hpp"

namespace gpuscale::tool {

namespace {

constexpr auto kKinds = std::to_array<CatalogueKind>({
    {"gpus", "topologies/gpus", "cards and dies, for cluster.gpu", &list_gpus},
    {"links", "topologies/links", "link types, for the links of a machine", &list_links},
    {"machines", "topologies/machines", "boxes, for cluster.machine", &list_machines},
    {"fabrics", "topologies/fabrics", "networks between boxes, for cluster.fabric", &list_fabrics},
    {"clusters", "topologies/clusters", "machines and a fabric, for cluster.name", &list_clusters},
    {"models", "workloads/models", "for workload.model", &list_models},
    {"frameworks", "workloads/frameworks", "for framework", &list_frameworks},
    {"transports", "workloads/transports", "for framework.transport", &list_transports},
    {"scenarios", "workloads/scenarios", "to run as they are", &list_scenarios},
});

}  // namespace

std::span<const CatalogueKind> catalogue_kinds() { return kKinds; }

Catalogue read_catalogue(const Library& library, std::string_view folder, std::vector<CatalogueColumn> columns,
                         const RowReader& row) {
  Catalogue catalogue{.columns = std::move(columns), .rows = {}, .problems = {}};
  for (const std::string& name : library.names(folder)) {
    Reading reading(library);
    YamlValue value;
    value.kind = YamlKind::scalar;
    value.text = name;
    std::vector<Cell> cells = row(value, reading);
    if (reading.problems().empty()) {
      catalogue.rows.push_back(std::move(cells));
    } else {
      catalogue.problems.insert(catalogue.problems.end(), reading.problems().begin(), reading.problems().end());
    }
  }
  return catalogue;
}

}  // namespace gpuscale::tool

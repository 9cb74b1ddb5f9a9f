#pragma once

/// \file
/// What the library holds, as tables: one row a name, with the figures one chooses by.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/fields.hpp"
#include "scenario/library.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale::tool {

/// A figure for people and, in base units, for programs.
struct Cell {
  std::string text;
  FieldValue value;
};

/// A column's key says the unit: `memory_bytes`.
struct CatalogueColumn {
  std::string_view title;
  std::string_view key;
  bool right = true;
  int dispensable = 0;  ///< as in TextColumn
};

struct Catalogue {
  std::vector<CatalogueColumn> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<Problem> problems;  ///< of files that could not be read; they have no row
};

struct CatalogueKind {
  std::string_view name;    ///< "gpus"
  std::string_view folder;  ///< "topologies/gpus"
  std::string_view what;    ///< "graphics cards and dies"
  Catalogue (*read)(const Library&);
};

/// In the order of `gpuscale list`.
std::span<const CatalogueKind> catalogue_kinds();

// Hardware.
Catalogue list_gpus(const Library& library);
Catalogue list_links(const Library& library);
Catalogue list_machines(const Library& library);
Catalogue list_fabrics(const Library& library);
Catalogue list_clusters(const Library& library);
// Workloads.
Catalogue list_models(const Library& library);
Catalogue list_frameworks(const Library& library);
Catalogue list_transports(const Library& library);
Catalogue list_scenarios(const Library& library);

}  // namespace gpuscale::tool

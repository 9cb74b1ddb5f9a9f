#pragma once

/// \file
/// Cells of a catalogue and the loop over the names of a folder.

#include <functional>
#include <optional>
#include <string>

#include "catalogue.hpp"
#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale::tool {

inline Cell cell(const std::string& text) { return {text, text}; }
inline Cell cell(std::int64_t whole) { return {std::to_string(whole), whole}; }
inline Cell yes_no(bool value) { return {value ? "yes" : "no", value}; }

/// A quantity: in words, and as a number of its base unit.
template <class Tag>
Cell cell(Quantity<Tag> quantity) {
  return {to_text(quantity), quantity.count()};
}

/// A quantity that may be missing: "-".
template <class Q>
Cell cell(const std::optional<Q>& quantity) {
  return quantity ? cell(*quantity) : Cell{"-", {}};
}

/// Adds a row for each name of a folder. `row` gets the name as a scenario would write it; a file with
/// problems gets no row.
using RowReader = std::function<std::vector<Cell>(const YamlValue& name, Reading& reading)>;
Catalogue read_catalogue(const Library& library, std::string_view folder, std::vector<CatalogueColumn> columns,
                         const RowReader& row);

}  // namespace gpuscale::tool

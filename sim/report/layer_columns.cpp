#include "report/point_columns.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

std::vector<TextColumn> layer_columns(const Report& report) {
  std::vector<TextColumn> columns = {{.title = "layer", .right = false, .dispensable = 0, .cells = {}},
                                     {.title = "kind", .right = false, .dispensable = 4, .cells = {}},
                                     {.title = "out", .right = false, .dispensable = 3, .cells = {}},
                                     {.title = "parameters", .right = true, .dispensable = 0, .cells = {}},
                                     {.title = "activation", .right = true, .dispensable = 1, .cells = {}},
                                     {.title = "saved", .right = true, .dispensable = 2, .cells = {}},
                                     {.title = "forward", .right = true, .dispensable = 0, .cells = {}},
                                     {.title = "backward", .right = true, .dispensable = 0, .cells = {}}};
  for (const LayerReport& layer : report.layers) {
    const std::vector<std::string> cells = {layer.name,
                                            layer.kind,
                                            layer.out,
                                            count_text(layer.parameters),
                                            to_text(layer.activation),
                                            to_text(layer.saved),
                                            to_text(layer.forward),
                                            to_text(layer.backward)};
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return columns;
}

}  // namespace gpuscale

#include <fmt/format.h>

#include "report/facts.hpp"
#include "report/point_columns.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

std::vector<TextColumn> card_columns(const Report& report) {
  std::vector<TextColumn> columns = {{.title = "GPU", .right = false, .dispensable = 0, .cells = {}},
                                     {.title = "GPUs", .right = true, .dispensable = 0, .cells = {}},
                                     {.title = "batch each", .right = true, .dispensable = 0, .cells = {}},
                                     {.title = "computes", .right = true, .dispensable = 0, .cells = {}},
                                     {.title = "of the step", .right = true, .dispensable = 1, .cells = {}},
                                     {.title = "needs", .right = true, .dispensable = 0, .cells = {}},
                                     {.title = "has", .right = true, .dispensable = 0, .cells = {}},
                                     {.title = "fits", .right = false, .dispensable = 0, .cells = {}}};
  for (const CardReport& card : report.cards) {
    const auto [needs, has] = told_apart(card.memory, card.capacity);
    const std::vector<std::string> cells = {card.gpu,
                                            fmt::format("{}", card.gpus),
                                            batch_text(card),
                                            to_text(card.compute),
                                            percent_text(card.compute / report.step_time),
                                            needs,
                                            has,
                                            card.fits ? "yes" : "NO"};
    for (std::size_t i = 0; i < cells.size(); ++i) columns[i].cells.push_back(cells[i]);
  }
  return columns;
}

}  // namespace gpuscale

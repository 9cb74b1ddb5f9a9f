#include <fmt/format.h>
#include <ostream>
#include <string>

#include "report/common.hpp"
#include "report/facts.hpp"
#include "report/point_columns.hpp"
#include "report/text.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

/// A table of two columns.
class FactTable {
 public:
  void add(std::string_view name, std::string text) {
    columns_[0].cells.emplace_back(name);
    columns_[1].cells.push_back(std::move(text));
  }
  [[nodiscard]] std::string text() const { return pipe_table(columns_); }

 private:
  std::vector<TextColumn> columns_ = {{.title = "", .right = false, .dispensable = 0, .cells = {}},
                                      {.title = "value", .right = false, .dispensable = 0, .cells = {}}};
};

}  // namespace

void write_markdown(std::ostream& out, const Report& report) {
  FactTable table;
  table.add("scenario", report.scenario);
  for (const Fact& fact : what_runs(report)) table.add(fact.name, fact.text);
  for (const Fact& fact : headline(report)) table.add(fact.name, fact.text);
  for (const SplitPart& part : kSplitParts) {
    const Seconds time = report.split.*part.time;
    if (time / report.step_time < kVisiblePart) continue;
    table.add(part.name, fmt::format("{} ({})", to_text(time), percent_text(time / report.step_time)));
  }
  for (const CardReport& card : report.cards) {
    const auto [needs, has] = told_apart(card.memory, card.capacity);
    table.add(card.gpu, fmt::format("{} GPU{}, batch {} each, computes {}, needs {} of {}", card.gpus,
                                    card.gpus == 1 ? "" : "s", batch_text(card), to_text(card.compute), needs, has));
  }
  if (!is_transfer(report)) {
    for (const MemoryPart& part : kMemoryParts) {
      const Bytes size = report.memory.footprint.*part.size;
      if (size.count() > 0) table.add(fmt::format("memory: {}", part.name), to_text(size));
    }
    const auto [needs, has] = memory_texts(report);
    table.add("memory", fmt::format("{} of {}: {} ({})", needs, has, report.memory.fits ? "fits" : "does not fit",
                                    largest_batch_text(report)));
  }
  table.add("limited by", report.limited_by);
  out << table.text();
}

void write_markdown(std::ostream& out, std::span<const Report> reports) { out << pipe_table(point_columns(reports)); }

void write_markdown(std::ostream& out, const Ranking& ranking) {
  out << pipe_table(ranking_columns(ranking)) << '\n' << printable(ranking.verdict) << '\n';
  for (const std::string& note : ranking.notes) out << "\n" << printable(note) << '\n';
}

}  // namespace gpuscale

#include <algorithm>
#include <fmt/format.h>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "report/facts.hpp"
#include "report/point_columns.hpp"
#include "report/text.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kLabel = 18;
constexpr std::size_t kNumber = 10;

std::string bar(double fraction, const TextStyle& style) {
  constexpr std::size_t kBefore = 2 + kLabel + 2 * kNumber + 2;
  constexpr std::size_t kFull = 40;
  const std::size_t room = style.width > kBefore ? style.width - kBefore : 0;
  return share_bar(fraction, std::min(kFull, room));
}

/// A number at its place, with a space before it however long it is.
std::string number_cell(const std::string& text) { return ' ' + padded(text, kNumber - 1, true); }

void line(std::ostream& out, std::string_view label, const std::string& text, const TextStyle& style) {
  out << "  " << padded(label, kLabel) << wrapped(printable(text), style.width, kLabel + 2) << '\n';
}

void write_split(std::ostream& out, const Report& report, const TextStyle& style) {
  out << '\n' << bold(is_transfer(report) ? "Where the time goes" : "Where the step goes", style) << '\n';
  for (const SplitPart& part : kSplitParts) {
    const Seconds time = report.split.*part.time;
    const double fraction = time / report.step_time;
    if (fraction < kVisiblePart) continue;
    out << "  " << padded(part.name, kLabel) << number_cell(to_text(time)) << number_cell(percent_text(fraction));
    const std::string filled = bar(fraction, style);
    out << (filled.empty() ? "" : "  " + filled) << '\n';
  }
}

/// What each exchange is for, how much of the step waits for it and what a GPU sends; with a codec what that saves.
void write_exchanges(std::ostream& out, const Report& report, const TextStyle& style) {
  if (report.exchanges.empty()) return;
  out << '\n' << bold("Exchanges of one GPU", style) << '\n';
  for (const ExchangeReport& exchange : report.exchanges) {
    if (exchange.uncompressed.count() > 0) {
      out << "  " << padded(exchange.purpose, kLabel) << number_cell(to_text(exchange.sent)) << "  sent, "
          << to_text(exchange.exposed) << " of the step exposed";
    } else {
      out << "  " << exchange.purpose << ": " << to_text(exchange.exposed) << " of the step";
    }
    if (exchange.sent < exchange.uncompressed) {
      out << fmt::format("; {:.1f} times fewer bytes than without a codec", exchange.uncompressed / exchange.sent);
    }
    out << '\n';
  }
}

/// The fullest and the emptiest stage of a pipeline.
void write_stages(std::ostream& out, const Report& report, const TextStyle& style) {
  const std::vector<Footprint>& stages = report.memory.stages;
  if (stages.size() < 2) return;
  const auto total = [](const Footprint& stage) { return stage.total(); };
  const auto [least, most] = std::ranges::minmax_element(stages, {}, total);
  const std::string text =
      fmt::format("{} on stage {} to {} on stage {} of {}", to_text(least->total()), least - stages.begin() + 1,
                  to_text(most->total()), most - stages.begin() + 1, stages.size());
  line(out, "by stage", text, style);
}

void write_memory(std::ostream& out, const Report& report, const TextStyle& style) {
  const Footprint& memory = report.memory.footprint;
  const std::string_view which = report.cards.empty() ? "Memory of one GPU" : "Memory of the GPU with least room left";
  out << '\n' << bold(which, style) << '\n';
  for (const MemoryPart& part : kMemoryParts) {
    const Bytes size = memory.*part.size;
    if (size.count() <= 0) continue;
    out << "  " << padded(part.name, kLabel) << number_cell(to_text(size))
        << number_cell(percent_text(size / report.memory.capacity)) << '\n';
  }
  const auto [needs, has] = memory_texts(report);
  out << "  " << padded("together", kLabel) << number_cell(needs)
      << number_cell(percent_text(memory.total() / report.memory.capacity)) << "  of " << has << '\n';
  write_stages(out, report, style);
  const std::string verdict = report.memory.fits ? "fits" : "DOES NOT FIT";
  const std::string dressed = report.memory.fits ? green(verdict, style) : red(verdict, style);
  out << "  " << dressed << std::string(kLabel - verdict.size(), ' ') << largest_batch_text(report) << '\n';
  if (report.memory.short_of_workspace) {
    line(out, "workspace",
         fmt::format("held to the {} that are left, which leaves some convolutions slower algorithms",
                     to_text(report.memory.room_for_workspace)),
         style);
  }
}

/// Unlike GPUs side by side.
void write_cards(std::ostream& out, const Report& report, const TextStyle& style) {
  if (report.cards.empty()) return;
  out << '\n' << bold("Kinds of GPUs", style) << '\n';
  for (const std::string& row : layout(card_columns(report), style.width, 2)) out << row << '\n';
  write_left_out(out, card_columns(report), style.width, "json", 2);
}

void write_links(std::ostream& out, const Report& report, const TextStyle& style) {
  constexpr std::size_t kFew = 4;
  std::vector<LinkLoad> links = report.links;
  std::erase_if(links, [](const LinkLoad& link) { return link.carried.count() <= 0; });
  if (links.empty()) return;
  const std::size_t shown = style.verbose ? links.size() : std::min(kFew, links.size());
  std::size_t width = 0;
  for (std::size_t i = 0; i < shown; ++i) width = std::max(width, display_width(printable(links[i].name)));
  out << '\n' << bold("Busiest links", style) << '\n';
  for (std::size_t i = 0; i < shown; ++i) {
    out << "  " << padded(printable(links[i].name), width) << number_cell(percent_text(links[i].load)) << "  "
        << to_text(links[i].carried) << (is_transfer(report) ? "" : " a step") << '\n';
  }
  if (shown < links.size()) out << dim(fmt::format("  and {} more (--verbose)", links.size() - shown), style) << '\n';
}

void write_layers(std::ostream& out, const Report& report, const TextStyle& style) {
  if (!style.verbose || report.layers.empty()) return;
  out << '\n' << bold("Layers, each on one GPU and in one pass", style) << '\n';
  for (const std::string& row : layout(layer_columns(report), style.width, 2)) out << row << '\n';
  write_left_out(out, layer_columns(report), style.width, "json", 2);
}

void write_list(std::ostream& out, std::string_view title, const std::vector<std::string>& items,
                const TextStyle& style) {
  if (items.empty()) return;
  out << '\n' << bold(title, style) << '\n';
  for (const std::string& item : items) out << "  - " << wrapped(printable(item), style.width, 4) << '\n';
}

void write_sources(std::ostream& out, const Report& report, const TextStyle& style) {
  if (style.verbose) return write_list(out, "Data", report.provenance, style);
  if (report.provenance.empty()) return;
  const std::string count = fmt::format("from {} data file{} (--verbose names them)", report.provenance.size(),
                                        report.provenance.size() == 1 ? "" : "s");
  out << dim(count, style) << '\n';
}

}  // namespace

void write_text(std::ostream& out, const Report& report, const TextStyle& style) {
  out << bold(printable(report.scenario), style) << '\n';
  for (const Fact& fact : what_runs(report)) line(out, fact.name, fact.text, style);
  out << '\n';
  for (const Fact& fact : headline(report)) line(out, fact.name, fact.text, style);
  write_split(out, report, style);
  write_exchanges(out, report, style);
  write_cards(out, report, style);
  if (!is_transfer(report)) write_memory(out, report, style);
  write_links(out, report, style);
  write_layers(out, report, style);
  if (!report.limited_by.empty()) {
    out << '\n' << bold("Limited by", style) << "  " << wrapped(printable(report.limited_by), style.width, 12) << '\n';
  }
  write_list(out, "Not modelled", report.not_modelled, style);
  out << (style.verbose ? "" : "\n");
  write_sources(out, report, style);
}

}  // namespace gpuscale

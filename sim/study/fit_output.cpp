#include "study/fit_output.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <ostream>

#include "report/facts.hpp"
#include "study/fit_tables.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kLabel = 12;

constexpr std::size_t kIndent = 2;

void write_lines(std::ostream& out, const std::vector<TextColumn>& columns, const TextStyle& style, bool titled) {
  const std::vector<std::string> lines = layout(columns, style.width, kIndent);
  for (std::size_t i = titled ? 0 : 1; i < lines.size(); ++i) out << lines[i] << '\n';
}

/// "fits" in green or "does not fit" in red, with what follows.
std::string dressed_verdict(const Report& report, const TextStyle& style) {
  const std::string text = verdict(report);
  return report.memory.fits ? green(text, style) : red(text, style);
}

std::string way_text(const Fit& fit) {
  if (fit.report.memory.fits) return {};
  const MemoryChange* way = best_way_to_fit(fit);
  if (way == nullptr) return "Nothing that was tried makes it fit; use a smaller model, or split it over more GPUs";
  return fmt::format("It fits with: {} ({})", way->what, as_options(way->settings));
}

void write_one(std::ostream& out, const Fit& fit, const TextStyle& style) {
  constexpr std::size_t kBar = 40;
  constexpr std::size_t kBesideBar = 56;
  const Report& report = fit.report;
  const std::size_t room = style.width > kBesideBar ? std::min(kBar, style.width - kBesideBar) : 0;
  out << bold(printable(report.scenario), style) << '\n';
  for (const Fact& fact : what_runs(report)) {
    out << "  " << padded(fact.name, kLabel) << wrapped(printable(fact.text), style.width, kLabel + 2) << '\n';
  }
  const bool staged = report.memory.stages.size() > 1;
  out << '\n' << bold(staged ? "Memory of a GPU of the fullest stage" : "Memory of one GPU", style) << '\n';
  write_lines(out, cause_columns(report, room), style, false);
  if (staged) {
    out << '\n' << bold("Memory of a GPU by pipeline stage", style) << '\n';
    write_lines(out, stage_columns(report), style, true);
    write_left_out(out, stage_columns(report), style.width, "json", kIndent);
  }
  out << '\n' << dressed_verdict(report, style) << '\n';
  if (fit.changes.empty()) return;
  out << '\n'
      << bold(report.memory.fits ? "What would save memory" : "What would save memory, each alone", style) << '\n';
  write_lines(out, change_columns(fit), style, true);
  write_left_out(out, change_columns(fit), style.width, "csv", kIndent);
  out << '\n' << "speed is throughput relative to the job as asked" << '\n';
  if (const std::string way = way_text(fit); !way.empty()) out << wrapped(way, style.width, 2) << '\n';
}

std::string count_text(std::span<const Fit> fits) {
  const auto fitting =
      std::ranges::count_if(fits, [](const Fit& fit) { return !is_refused(fit.report) && fit.report.memory.fits; });
  return fmt::format("{} of {} jobs fit in memory", fitting, fits.size());
}

}  // namespace

void write_text(std::ostream& out, std::span<const Fit> fits, const TextStyle& style) {
  if (fits.size() == 1) return write_one(out, fits.front(), style);
  for (const std::string& line : layout(fit_columns(fits), style.width)) out << line << '\n';
  write_left_out(out, fit_columns(fits), style.width, "csv", 0);
  out << '\n' << count_text(fits) << '\n';
}

void write_markdown(std::ostream& out, std::span<const Fit> fits) {
  if (fits.size() != 1) {
    out << pipe_table(fit_columns(fits)) << '\n' << count_text(fits) << '\n';
    return;
  }
  const Fit& fit = fits.front();
  out << pipe_table(cause_columns(fit.report, 0)) << '\n';
  if (fit.report.memory.stages.size() > 1) out << pipe_table(stage_columns(fit.report)) << '\n';
  out << printable(verdict(fit.report)) << '\n';
  if (!fit.changes.empty()) out << '\n' << pipe_table(change_columns(fit));
  if (const std::string way = way_text(fit); !way.empty()) out << '\n' << printable(way) << '\n';
}

}  // namespace gpuscale

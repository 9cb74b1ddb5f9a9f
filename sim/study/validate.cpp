#include "study/validate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <utility>

#include "import/csv.hpp"
#include "study/parallel_for.hpp"
#include "study/validate_checks.hpp"
#include "study/validate_groups.hpp"
#include "study/validate_rows.hpp"

namespace gpuscale {

namespace {

/// A rule with what it made of its table.
struct Source {
  const ValidationRule* rule;
  ScenarioFile base;
  std::vector<MeasuredRow> rows;
};

/// Tables by file, each read once. Problems name the table, or the rule where the file is missing.
using Tables = std::map<std::filesystem::path, CsvTable>;

const CsvTable& table_of(const ValidationRule& rule, Tables& tables) {
  const auto found = tables.find(rule.data);
  if (found != tables.end()) return found->second;
  if (!std::filesystem::exists(rule.data)) {
    throw ScenarioError({{rule.data_place, fmt::format("there is no table '{}'", rule.data.string())}});
  }
  return tables.emplace(rule.data, read_csv(rule.data)).first->second;
}

std::vector<Source> read_sources(std::span<const ValidationRule> rules) {
  Tables tables;
  std::vector<Source> sources;
  std::vector<Problem> problems;
  for (const ValidationRule& rule : rules) {
    try {
      sources.push_back({&rule, ScenarioFile::parse("description: a measured row\n", rule.name),
                         measured_rows(rule, table_of(rule, tables))});
    } catch (const ScenarioError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  if (!problems.empty()) throw ScenarioError(std::move(problems));
  return sources;
}

/// A problem of a data file needs its place, one of a setting does not.
std::string reason_of(const Problem& problem) { return problem.place.line > 0 ? to_text(problem) : problem.text; }

RowResult check_row(const Source& source, const MeasuredRow& row, const Library& library) {
  RowResult result;
  result.id = row.id;
  result.source = source.rule->name;
  result.class_name = row.class_name;
  result.gpus = row.gpus;
  result.reason = row.reason;
  result.ranked_key = row.ranked_key;
  if (!row.reason.empty()) return result;
  result.speedup_measured = row.speedup_measured;
  try {
    check_of(source.rule->check)(row, {*source.rule, library, source.base}, result);
  } catch (const ScenarioError& error) {
    result.reason = reason_of(error.problems().front());
  }
  result.used = result.reason.empty();
  return result;
}

/// The mean of the rates measured on one GPU, by what rows must have in common with it.
std::map<std::string, double> rates_alone(const std::vector<MeasuredRow>& rows, std::span<const RowResult> results) {
  std::map<std::string, std::pair<double, int>> sums;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!results[i].used || results[i].gpus != 1 || !results[i].rate_measured) continue;
    auto& [sum, count] = sums[rows[i].alone_key];
    sum += *results[i].rate_measured;
    ++count;
  }
  std::map<std::string, double> means;
  for (const auto& [key, sum] : sums) means[key] = sum.first / sum.second;
  return means;
}

/// Speed-ups that the table leaves to be worked out.
void relate(const Source& source, std::span<RowResult> results) {
  if (!source.rule->alone || source.rule->alone->same.empty()) return;
  const std::map<std::string, double> alone = rates_alone(source.rows, results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    RowResult& result = results[i];
    const auto found = alone.find(source.rows[i].alone_key);
    if (!result.used || !result.rate_measured || found == alone.end()) continue;
    result.speedup_measured = *result.rate_measured / found->second;
  }
}

/// A speed-up of one GPU over itself says nothing; one without a counterpart neither.
void keep_pairs(std::span<RowResult> results) {
  for (RowResult& result : results) {
    if (result.gpus > 1 && result.speedup && result.speedup_measured) continue;
    result.speedup.reset();
    result.speedup_measured.reset();
  }
}

std::vector<RowResult> check_all(const std::vector<Source>& sources, const Library& library,
                                 const ValidateOptions& options, bool& interrupted) {
  std::vector<std::pair<const Source*, const MeasuredRow*>> tasks;
  for (const Source& source : sources) {
    for (const MeasuredRow& row : source.rows) tasks.emplace_back(&source, &row);
  }
  std::vector<RowResult> results(tasks.size());
  std::mutex mutex;
  std::size_t done = 0;
  parallel_for(tasks.size(), options.jobs, options.stop, [&](std::size_t i) {
    results[i] = check_row(*tasks[i].first, *tasks[i].second, library);
    const std::scoped_lock lock(mutex);
    ++done;
    if (options.on_done) options.on_done(done, tasks.size());
  });
  interrupted = done < tasks.size();
  return results;
}

}  // namespace

std::optional<double> RowResult::bus_bandwidth_error() const {
  if (!bus_bandwidth || !bus_bandwidth_measured) return std::nullopt;
  return *bus_bandwidth / *bus_bandwidth_measured - 1.0;
}

std::optional<double> RowResult::memory_error() const {
  if (!memory || !memory_measured) return std::nullopt;
  return *memory / *memory_measured - 1.0;
}

std::optional<double> RowResult::time_error() const {
  if (!time || !time_measured) return std::nullopt;
  return *time / *time_measured - 1.0;
}

std::optional<double> RowResult::baseline_error() const {
  if (!time_baseline || !time_measured) return std::nullopt;
  return *time_baseline / *time_measured - 1.0;
}

std::optional<double> RowResult::efficiency() const { return speedup ? std::optional(*speedup / gpus) : std::nullopt; }

std::optional<double> RowResult::efficiency_measured() const {
  return speedup_measured ? std::optional(*speedup_measured / gpus) : std::nullopt;
}

std::optional<double> RowResult::efficiency_error() const {
  if (!speedup || !speedup_measured) return std::nullopt;
  return *efficiency() - *efficiency_measured();
}

std::optional<double> RowResult::linear_error() const {
  if (!efficiency_error()) return std::nullopt;
  return (is_gain ? 1.0 / gpus : 1.0) - *efficiency_measured();
}

Validation validate(std::span<const ValidationRule> rules, const Library& library, const ValidateOptions& options) {
  const std::vector<Source> sources = read_sources(rules);
  Validation result;
  result.rows = check_all(sources, library, options, result.interrupted);
  std::span<RowResult> rest(result.rows);
  for (const Source& source : sources) {
    const std::span<RowResult> rows = rest.first(source.rows.size());
    rest = rest.subspan(source.rows.size());
    relate(source, rows);
    keep_pairs(rows);
  }
  std::erase_if(result.rows, [&](const RowResult& row) {
    return row.source.empty() ||
           (!options.families.empty() && std::ranges::find(options.families, row.family) == options.families.end());
  });
  result.groups = groups_of(result.rows);
  return result;
}

}  // namespace gpuscale

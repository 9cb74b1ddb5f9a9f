#include "study/calibrate_rows.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <string_view>

#include "scenario/schema.hpp"
#include "scenario/yaml_value.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::size_t kMostProblems = 100;

/// A short name of a column and the path it stands for.
struct ShortName {
  std::string_view column;
  std::string_view path;
};

constexpr auto kShortNames = std::to_array<ShortName>({{"gpu", "cluster.gpu"},
                                                       {"gpus", "cluster.gpus"},
                                                       {"machine", "cluster.machine"},
                                                       {"nodes", "cluster.nodes"},
                                                       {"fabric", "cluster.fabric"},
                                                       {"model", "workload.model"},
                                                       {"batch", "workload.batch"},
                                                       {"precision", "workload.precision"},
                                                       {"optimizer", "workload.optimizer"},
                                                       {"sequence", "workload.sequence"},
                                                       {"framework", "framework"}});

constexpr std::array<std::string_view, 3> kTexts = {"name", "note", "source"};

/// A column of measured numbers: a throughput or a time, with its unit or in one that the name says.
struct MeasuredColumn {
  std::string_view column;
  bool is_time;
  double unit;  ///< in seconds or samples a second; 0: the cell says it
};

constexpr auto kMeasured = std::to_array<MeasuredColumn>({{"throughput", false, 0},
                                                          {"throughput_samples_per_s", false, 1},
                                                          {"step_time", true, 0},
                                                          {"step_time_s", true, 1},
                                                          {"step_time_ms", true, 1e-3}});

std::vector<std::string_view> known_columns() {
  std::vector<std::string_view> names;
  for (const ShortName& known : kShortNames) names.push_back(known.column);
  names.insert(names.end(), kTexts.begin(), kTexts.end());
  for (const MeasuredColumn& known : kMeasured) names.push_back(known.column);
  return names;
}

/// What a column of the table means.
struct ColumnMeaning {
  std::string path;                          ///< empty: none
  const MeasuredColumn* measured = nullptr;  ///< not null: the measured number
  bool is_name = false;
};

std::string as_scalar(const std::string& text) {
  YamlValue value;
  value.kind = YamlKind::scalar;
  value.text = text;
  return to_yaml(value);
}

class RowReader {
 public:
  RowReader(const CsvTable& table, const MeasurementBase& base, const Library& library)
      : table_(table), base_(base), library_(library) {}

  std::vector<Measurement> read() {
    read_columns();
    if (problems_.empty()) {
      for (const CsvRow& row : table_.rows) read_row(row);
    }
    if (!problems_.empty()) throw ScenarioError(std::move(problems_));
    return std::move(measurements_);
  }

 private:
  void note(int line, int column, std::string text) {
    if (problems_.size() < kMostProblems) problems_.push_back({{table_.file, line, column}, std::move(text)});
  }

  void note(const std::vector<Problem>& problems) {
    for (const Problem& problem : problems) {
      if (std::ranges::find(problems_, problem) == problems_.end() && problems_.size() < kMostProblems) {
        problems_.push_back(problem);
      }
    }
  }

  void read_columns() {
    for (const std::string& column : table_.columns) meanings_.push_back(meaning_of(column));
    const auto measured =
        std::ranges::count_if(meanings_, [](const ColumnMeaning& meaning) { return meaning.measured != nullptr; });
    if (measured == 1) return;
    note(1, 0,
         measured == 0 ? "no column says what was measured; add 'throughput' (samples a second of the whole job) "
                         "or 'step_time' (such as 315 ms)"
                       : "more than one column says what was measured; keep one of them");
  }

  ColumnMeaning meaning_of(const std::string& column) {
    if (const auto* known = std::ranges::find(kShortNames, column, &ShortName::column); known != kShortNames.end()) {
      return {.path = std::string(known->path)};
    }
    if (const auto* known = std::ranges::find(kMeasured, column, &MeasuredColumn::column); known != kMeasured.end()) {
      return {.path = {}, .measured = known};
    }
    if (std::ranges::find(kTexts, column) != kTexts.end()) return {.path = {}, .is_name = column == "name"};
    if (is_scenario_path(column)) return {.path = column};
    const std::vector<std::string_view> names = known_columns();
    note(1, 0,
         fmt::format("unknown column {}{}; there are {}, and every path of 'gpuscale schema'", in_quotes(column),
                     did_you_mean(column, names), fmt::join(names, ", ")));
    return {};
  }

  void read_row(const CsvRow& row) {
    Measurement measurement;
    measurement.name = fmt::format("line {}", row.line);
    std::vector<Setting> settings = base_.settings;
    std::optional<double> value;
    const ColumnMeaning* measured = nullptr;
    bool says_machine = !base_.is_usual;
    for (std::size_t i = 0; i < meanings_.size(); ++i) {
      const ColumnMeaning& meaning = meanings_[i];
      const std::string& cell = row.cells[i];
      if (meaning.is_name && !cell.empty()) measurement.name = cell;
      if (meaning.measured != nullptr) {
        measured = &meaning;
        value = read_measured(row, i, *meaning.measured);
      }
      if (meaning.path.empty() || cell.empty()) continue;
      settings.push_back({meaning.path, setting_text(meaning.path, cell), {table_.file, row.line, row.starts[i]}});
      says_machine = says_machine || meaning.path == "cluster.machine";
    }
    const std::optional<Scenario> scenario = resolved(row, settings, says_machine);
    if (!scenario || !value) return;
    measurement.scenario = *scenario;
    const double samples = samples_of(*scenario);
    measurement.step_time = measured->measured->is_time ? Seconds(*value) : Seconds(samples / *value);
    measurements_.push_back(std::move(measurement));
  }

  static std::string setting_text(const std::string& path, const std::string& cell) {
    const bool bare = cell.find_first_not_of("0123456789") == std::string::npos;
    if (path == "workload.batch" && bare) return cell + " per gpu";
    const bool is_map = cell.starts_with('{') || cell.starts_with('[');
    return is_map || bare ? cell : as_scalar(cell);
  }

  /// The row's job; problems noted if it is none.
  std::optional<Scenario> resolved(const CsvRow& row, const std::vector<Setting>& settings, bool says_machine) {
    try {
      Scenario scenario = base_.file.resolve(library_, settings);
      if (scenario.job.transfer) note(row.line, 0, "the row has no 'model'; a transfer cannot be calibrated");
      if (scenario.cluster.gpus > 1 && !says_machine) {
        note(row.line, 0,
             fmt::format("{} GPUs are joined somehow: add a column 'machine', or give --scenario",
                         scenario.cluster.gpus));
      }
      return scenario;
    } catch (const ScenarioError& error) {
      std::vector<Problem> problems = error.problems();
      for (Problem& problem : problems) {
        const bool is_of_base = problem.place.file != table_.file;
        if (is_of_base) problem = {{table_.file, row.line, 0}, row_text(problem)};
      }
      note(problems);
      return std::nullopt;
    }
  }

  /// A problem that no cell has alone.
  std::string row_text(const Problem& problem) const {
    if (base_.is_usual && problem.text.find("has no 'model'") != std::string::npos) {
      return "the row does not say which 'model' ran; add a column, or give --scenario";
    }
    if (base_.is_usual && problem.text.find("has no 'gpu'") != std::string::npos) {
      return "the row does not say on which 'gpu'; add a column, or give --scenario";
    }
    return problem.text;
  }

  static double samples_of(const Scenario& scenario) {
    const BatchSpec& batch = scenario.job.batch;
    const auto samples = static_cast<double>(batch.samples);
    return batch.per_gpu ? samples * scenario.cluster.gpus : samples;
  }

  std::optional<double> read_measured(const CsvRow& row, std::size_t i, const MeasuredColumn& column) {
    const std::string& cell = row.cells[i];
    const auto refuse = [&](std::string text) {
      note(row.line, row.starts[i], std::move(text));
      return std::nullopt;
    };
    if (cell.empty()) return refuse(fmt::format("the cell of '{}' is empty", column.column));
    const QuantityReading plain = read_number(cell, 0.0, std::numeric_limits<double>::max());
    const bool takes_plain = column.unit > 0 || !column.is_time;
    if (takes_plain && plain.ok() && plain.value > 0) return plain.value * (column.unit > 0 ? column.unit : 1.0);
    if (column.unit > 0) return refuse(fmt::format("{} is not a number above 0", in_quotes(cell)));
    const QuantityReading reading =
        read_quantity(cell, column.is_time ? QuantityKind::duration : QuantityKind::per_second);
    if (!reading.ok()) return refuse(reading.problem);
    return reading.value;
  }

  const CsvTable& table_;
  const MeasurementBase& base_;
  const Library& library_;
  std::vector<ColumnMeaning> meanings_;
  std::vector<Measurement> measurements_;
  std::vector<Problem> problems_;
};

}  // namespace

MeasurementBase usual_base() {
  return {.file = ScenarioFile::parse("workload: {}\n"
                                      "cluster: {machine: workstation-4x-pcie3-x8, gpus: 1}\n"
                                      "framework: pytorch-ddp\n",
                                      "usual base")};
}

std::vector<Measurement> read_measurements(const CsvTable& table, const MeasurementBase& base, const Library& library) {
  return RowReader(table, base, library).read();
}

}  // namespace gpuscale

#pragma once

/// \file
/// What turns the rows of a table of measurements into scenarios: one rule a source, as YAML. The grammar
/// is in tests/validation/README.md; what a rule does with a row is study/validate_rows.

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/library.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale {

/// What a row measures, and so how it is checked.
enum class CheckKind {
  training,     ///< steps of a training job; `set` has keys of a scenario
  collectives,  ///< exchanges between GPUs; `set` has keys of its hardware
  kernels,      ///< one kernel on one card; `set` has gpu, precision, kernel and shape
};
inline constexpr std::array<std::string_view, 3> kCheckKindNames = {"training", "collectives", "kernels"};

/// What the measured number is.
enum class MeasuredKind {
  throughput,        ///< samples a second of the whole job
  tokens_per_s,      ///< tokens a second of the whole job
  tokens_per_gpu,    ///< tokens a second of one GPU
  step_time,         ///< of one step
  passes_time,       ///< of a step without the update of the weights
  time_for_samples,  ///< in which the whole job trains a number of samples
  speedup,           ///< against one GPU; says nothing about time
  gain,              ///< the same against the job with other settings on as many GPUs
  time,              ///< of one operation, where no step is measured
  rate,              ///< GB/s of an exchange: its bytes over its time
  peak_memory,       ///< of the fullest GPU, without what the framework takes beside tensors
  activation_memory  ///< kept from forward to backward on the fullest GPU
};
inline constexpr std::array<std::string_view, 12> kMeasuredKindNames = {
    "throughput", "tokens_per_s", "tokens_per_gpu", "step_time", "passes_time", "time_for_samples",
    "speedup",    "gain",         "time",           "rate",      "peak_memory", "activation_memory"};

/// Whether a kind is bytes on a GPU.
constexpr bool is_memory(MeasuredKind kind) {
  return kind == MeasuredKind::peak_memory || kind == MeasuredKind::activation_memory;
}

/// A column and the patterns of which its cell has to match one.
struct ColumnCondition {
  Place place;
  std::string column;
  std::vector<std::string> patterns;
};

/// Rows that fulfil all conditions are left out for a reason.
struct SkipRule {
  std::vector<ColumnCondition> where;
  std::string reason;
};

/// One line of `cases`: a pattern for each column, and what then holds.
struct RuleCase {
  std::vector<std::string> patterns;
  std::optional<std::string> text;  ///< none: nothing is set
  bool is_yaml = false;             ///< a map or list, as YAML on one line; else a text with {column} in it
};

/// A value that may depend on the row: the first case whose patterns match the cells of `columns`. Without
/// columns there is one case, which always holds.
struct RuleValue {
  Place place;
  std::vector<std::string> columns;
  std::vector<RuleCase> cases;
  std::vector<std::string> between = {};  ///< two texts: the value is what stands between them in the one column
};

/// A value under a name: a key of the scenario, or a column made from others.
struct NamedRuleValue {
  std::string name;
  RuleValue value;
};

struct MeasuredRule {
  Place place;
  std::string column = "value";
  RuleValue kind;        ///< gives a word of kMeasuredKindNames
  double unit = 1.0;     ///< seconds or bytes that 1 stands for
  double samples = 1.0;  ///< of time_for_samples
  /// Settings that make the other job: whose memory is 100 percent (`percent_of`), or that a gain is over (`over`).
  std::vector<NamedRuleValue> against = {};
};

/// With what the speed-up of a row is taken: rows with the same cells on one GPU, or a column that has it.
struct AloneRule {
  Place place;
  std::vector<std::string> same;
  std::string column;
};

/// What a row of collectives exchanges.
struct ExchangeRule {
  RuleValue collective;                ///< gives a word of kCollectiveNames
  RuleValue bytes;                     ///< gives a number
  RuleValue transport;                 ///< gives a name of workloads/transports
  std::optional<RuleValue> algorithm;  ///< gives a word of kExchangeAlgorithmNames; none: auto
  std::optional<RuleValue> machine;    ///< names the group of rows; none: the machine's file
  std::optional<RuleValue> ranks;      ///< which GPUs take part, as in 0,4; none: all
};

struct ValidationRule {
  std::string name;  ///< of the source
  Place name_place;
  std::string citation;
  std::filesystem::path data;
  Place data_place;
  CheckKind check = CheckKind::training;
  std::vector<ColumnCondition> rows;
  std::vector<NamedRuleValue> derive;
  std::vector<SkipRule> skip;
  std::vector<NamedRuleValue> set;
  MeasuredRule measured;
  std::optional<AloneRule> alone;
  std::vector<std::string> ranked;  ///< rows with the same cells in these columns are put in order of time
  Place ranked_place;
  std::optional<ExchangeRule> exchange;  ///< of collectives
  std::optional<RuleValue> class_name;
};

/// Reads a rule. \throws ScenarioError with every problem found
ValidationRule read_validation_rule(const std::filesystem::path& file, const Library& library);

/// Every `.yaml` of a folder, by name. \throws ScenarioError with the problems of all
std::vector<ValidationRule> read_validation_rules(const std::filesystem::path& folder, const Library& library);

}  // namespace gpuscale

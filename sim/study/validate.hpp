#pragma once

/// \file
/// Measurements beside simulations: every row of the tables that rules name becomes a scenario, is
/// simulated, and its errors are put together by source, family and class.

#include <atomic>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/library.hpp"
#include "scenario/validation_rule.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// One measured row and what we say to it. What has no meaning for the row is empty.
struct RowResult {
  std::string id;
  std::string source;
  std::string family;      ///< of the model: conv, recurrent, transformer or dense
  std::string class_name;  ///< as the rule says
  std::string machine;     ///< of a row of collectives
  std::string card;        ///< id of the GPU, where rows compare single cards
  std::string what;        ///< in words: "resnet50 fp16 b64, 8x rtx-2080-ti"
  int gpus = 0;            ///< 0 if not known
  bool used = false;
  std::string reason;  ///< why it is not used

  std::optional<Seconds> time;                   ///< ours
  std::optional<Seconds> time_measured;          ///< theirs
  std::optional<Seconds> time_baseline;          ///< of a naive model of the same thing: a plain roofline
  std::optional<double> rate_measured;           ///< samples or tokens a second, theirs
  std::optional<double> bus_bandwidth;           ///< bytes/s of an exchange as nccl-tests count them, ours
  std::optional<double> bus_bandwidth_measured;  ///< theirs
  std::optional<double> memory;                  ///< bytes on a GPU, or percent of another job's, ours
  std::optional<double> memory_measured;         ///< theirs
  bool memory_in_percent = false;
  std::string ranked_key;  ///< equal for rows whose order is compared; empty: none
  std::optional<double> speedup;
  std::optional<double> speedup_measured;
  bool is_gain = false;  ///< the speed-up is against the job with other settings, not against one GPU

  /// ours / theirs - 1
  [[nodiscard]] std::optional<double> time_error() const;
  /// The same of the baseline.
  [[nodiscard]] std::optional<double> baseline_error() const;
  [[nodiscard]] std::optional<double> efficiency() const;
  [[nodiscard]] std::optional<double> efficiency_measured() const;
  /// ours / theirs - 1
  [[nodiscard]] std::optional<double> bus_bandwidth_error() const;
  /// ours / theirs - 1
  [[nodiscard]] std::optional<double> memory_error() const;
  /// ours - theirs, of speed-up / GPUs
  [[nodiscard]] std::optional<double> efficiency_error() const;
  /// The same of who knows nothing: that scaling is linear, or that there is no gain.
  [[nodiscard]] std::optional<double> linear_error() const;
};

/// Errors over the rows of one source, family or class. Percents as numbers (12.5), efficiencies as
/// fractions of 1; empty where no row has the figure.
struct GroupResult {
  std::string by;
  std::string name;
  std::size_t rows = 0;
  std::size_t used = 0;
  std::optional<double> time_mape;              ///< mean of |time error|, %
  std::optional<double> time_median_ape;        ///< median of it, %
  std::optional<double> ratio_mape;             ///< mean of |ours / theirs - 1| of the speed-up, %
  std::optional<double> efficiency_mae;         ///< mean of |ours - theirs| of speed-up / GPUs
  std::optional<double> linear_efficiency_mae;  ///< the same if every speed-up were the number of GPUs, every gain 1
  std::optional<double> bus_bandwidth_mape;     ///< mean of |bus bandwidth error|, %
  std::optional<double> memory_mape;            ///< mean of |memory error|, %
  /// Kendall's tau of the order of times: pairs that we put in order as measured less the others, over all; pairs of
  /// rows that a rule ranks together
  std::optional<double> kendall_tau;
  std::optional<double> bias;           ///< mean of the time error with its sign, %
  std::optional<double> baseline_mape;  ///< mean of |time error| of the baseline, %
};

inline constexpr std::string_view kByOrder = "order";  ///< GroupResult::by of rows that a rule ranks together

struct Validation {
  std::vector<GroupResult> groups;  ///< sources, families, classes, classes by card
  std::vector<RowResult> rows;      ///< in the order of the rules and their tables
  bool interrupted = false;         ///< some rows are missing
};

struct ValidateOptions {
  std::vector<std::string> families;  ///< only rows of these; empty: all
  int jobs = 1;
  std::function<void(std::size_t done, std::size_t total)> on_done = {};  ///< after each row, one call at a time
  const std::atomic<bool>* stop = nullptr;
};

/// Simulates the rows of all rules. The result does not depend on `jobs`.
/// \throws ScenarioError with every problem of rules and tables; a row that cannot be simulated is none
Validation validate(std::span<const ValidationRule> rules, const Library& library, const ValidateOptions& options);

}  // namespace gpuscale

#pragma once

/// \file
/// What a rule makes of a table: settings of a scenario and the measured number, row by row.

#include <optional>
#include <string>
#include <vector>

#include "import/csv.hpp"
#include "scenario/scenario.hpp"
#include "scenario/validation_rule.hpp"

namespace gpuscale {

/// A row that a rule takes. With a reason it cannot be used, and only id, class and GPUs may hold.
struct MeasuredRow {
  std::string id;
  std::string class_name;
  int gpus = 0;
  std::string reason;
  std::vector<Setting> settings;
  std::vector<Setting> other_settings = {};  ///< written over them: the job that is 100 percent, or that a gain is over
  double value = 0.0;
  MeasuredKind kind = MeasuredKind::throughput;
  std::string alone_key;                   ///< equal for rows that differ in the number of GPUs only
  std::string ranked_key;                  ///< equal for rows whose order is compared; empty: none
  std::optional<double> speedup_measured;  ///< where the table says it itself
  std::string collective;                  ///< of a rule of collectives, as are those that follow
  double bytes = 0.0;
  std::string transport;
  std::string algorithm = "auto";
  std::string machine;
  std::string ranks;  ///< empty: all
};

/// The rows of a table that a rule takes, in the order of the table.
/// \throws ScenarioError if the rule asks for a column that the table does not have
std::vector<MeasuredRow> measured_rows(const ValidationRule& rule, const CsvTable& table);

}  // namespace gpuscale

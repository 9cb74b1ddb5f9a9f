#include "study/validate_rows.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <system_error>

#include "import/glob.hpp"
#include "scenario/yaml_value.hpp"
#include "study/validate_columns.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

/// The cells of a row by column, those that the rule derives included.
class Cells {
 public:
  Cells(const CsvTable& table, const CsvRow& row) : table_(table), row_(row) {}

  [[nodiscard]] const std::string& at(std::string_view column) const {
    const auto found = std::ranges::find(derived_, column, &std::pair<std::string, std::string>::first);
    return found != derived_.end() ? found->second : row_.cells[table_.column(column).value()];
  }
  void derive(std::string column, std::string text) { derived_.emplace_back(std::move(column), std::move(text)); }

 private:
  const CsvTable& table_;
  const CsvRow& row_;
  std::vector<std::pair<std::string, std::string>> derived_;
};

bool holds(const ColumnCondition& condition, const Cells& cells) {
  return std::ranges::any_of(condition.patterns,
                             [&](const std::string& pattern) { return matches(pattern, cells.at(condition.column)); });
}

bool hold_all(const std::vector<ColumnCondition>& conditions, const Cells& cells) {
  return std::ranges::all_of(conditions, [&](const ColumnCondition& condition) { return holds(condition, cells); });
}

const RuleCase* case_of(const RuleValue& value, const Cells& cells) {
  const auto fits = [&](const RuleCase& choice) {
    for (std::size_t i = 0; i < value.columns.size(); ++i) {
      if (!matches(choice.patterns[i], cells.at(value.columns[i]))) return false;
    }
    return true;
  };
  const auto found = std::ranges::find_if(value.cases, fits);
  return found == value.cases.end() ? nullptr : &*found;
}

/// "no case for gpu 'Titan'".
std::string no_case(const RuleValue& value, const Cells& cells) {
  std::string text;
  for (const std::string& column : value.columns) {
    text += fmt::format("{}{} {}", text.empty() ? "no case for " : ", ", column, in_quotes(cells.at(column)));
  }
  return text;
}

/// What stands between two texts; empty if they do not.
std::string cut_out(const std::string& cell, const std::vector<std::string>& between) {
  const std::size_t before = cell.find(between.front());
  if (before == std::string::npos) return "";
  const std::size_t from = before + between.front().size();
  const std::size_t end = cell.find(between.back(), from);
  return end == std::string::npos ? "" : cell.substr(from, end - from);
}

std::string filled(std::string_view text, const Cells& cells) {
  std::string result;
  for (const TextPart& part : parts_of(text)) result += part.is_column ? cells.at(part.text) : std::string(part.text);
  return result;
}

/// Takes a row through its rule; the first thing that stands against it becomes its reason.
class RowMaker {
 public:
  RowMaker(const ValidationRule& rule, const CsvTable& table, const CsvRow& row) : rule_(rule), cells_(table, row) {}

  std::optional<MeasuredRow> make() {
    derive_columns();
    if (!hold_all(rule_.rows, cells_)) return std::nullopt;
    row_.id = cells_.at(kIdColumn);
    if (rule_.class_name) row_.class_name = text_of(*rule_.class_name).value_or("");
    skip();
    set();
    exchange();
    measure();
    relate();
    return std::move(row_);
  }

 private:
  void refuse(std::string reason) {
    if (row_.reason.empty()) row_.reason = std::move(reason);
  }

  /// The text of a value; nothing with a reason if no case fits, nothing without one if the case is empty.
  std::optional<std::string> text_of(const RuleValue& value) {
    if (!value.between.empty()) return cut_out(cells_.at(value.columns.front()), value.between);
    const RuleCase* choice = case_of(value, cells_);
    if (choice == nullptr) refuse(no_case(value, cells_));
    if (choice == nullptr || !choice->text) return std::nullopt;
    return filled(*choice->text, cells_);
  }

  void derive_columns() {
    for (const NamedRuleValue& named : rule_.derive) cells_.derive(named.name, text_of(named.value).value_or(""));
  }

  void skip() {
    const auto found =
        std::ranges::find_if(rule_.skip, [&](const SkipRule& skip) { return hold_all(skip.where, cells_); });
    if (found != rule_.skip.end()) refuse(found->reason);
  }

  void set() {
    row_.settings = settings_of(rule_.set);
    row_.other_settings = settings_of(rule_.measured.against);
    const auto gpus = std::ranges::find(rule_.set, "cluster.gpus", &NamedRuleValue::name);
    if (gpus != rule_.set.end()) read_gpus(text_of(gpus->value).value_or(""));
  }

  std::vector<Setting> settings_of(const std::vector<NamedRuleValue>& values) {
    std::vector<Setting> settings;
    for (const NamedRuleValue& named : values) {
      const RuleCase* choice = case_of(named.value, cells_);
      std::optional<std::string> text = text_of(named.value);
      const bool is_yaml = choice != nullptr && choice->is_yaml;
      if (text) settings.push_back({named.name, is_yaml ? *text : as_yaml(*text)});
    }
    return settings;
  }

  static std::string as_yaml(const std::string& text) {
    YamlValue scalar;
    scalar.kind = YamlKind::scalar;
    scalar.text = text;
    return to_yaml(scalar);
  }

  void read_gpus(const std::string& text) {
    std::from_chars(text.data(), text.data() + text.size(), row_.gpus);  // what it cannot read stays 0
  }

  std::optional<double> number(const std::string& column) {
    const std::string& cell = cells_.at(column);
    const QuantityReading reading = read_number(cell, 0.0, std::numeric_limits<double>::max());
    if (cell.empty()) return std::nullopt;
    if (reading.ok() && reading.value > 0) return reading.value;
    refuse(fmt::format("{} {} is not a positive number", column, in_quotes(cell)));
    return std::nullopt;
  }

  void measure() {
    const std::optional<double> value = number(rule_.measured.column);
    if (!value) refuse(fmt::format("no {}", rule_.measured.column));
    row_.value = value.value_or(0.0);
    const std::optional<std::string> kind = text_of(rule_.measured.kind);
    const auto found = std::ranges::find(kMeasuredKindNames, kind.value_or(""));
    if (found == kMeasuredKindNames.end()) return refuse("nothing that the rule knows is measured");
    row_.kind = static_cast<MeasuredKind>(found - kMeasuredKindNames.begin());
    if (row_.kind == MeasuredKind::speedup || row_.kind == MeasuredKind::gain) row_.speedup_measured = value;
    if (row_.kind == MeasuredKind::gain && rule_.measured.against.empty())
      refuse("a gain is measured, and not over what");
  }

  void exchange() {
    if (!rule_.exchange) return;
    row_.collective = text_of(rule_.exchange->collective).value_or("");
    row_.transport = text_of(rule_.exchange->transport).value_or("");
    if (rule_.exchange->algorithm) row_.algorithm = text_of(*rule_.exchange->algorithm).value_or("auto");
    if (rule_.exchange->machine) row_.machine = text_of(*rule_.exchange->machine).value_or("");
    if (rule_.exchange->ranks) row_.ranks = text_of(*rule_.exchange->ranks).value_or("");
    const std::string bytes = text_of(rule_.exchange->bytes).value_or("");
    if (bytes.empty()) return refuse("the row does not say how many bytes");
    const QuantityReading reading = read_number(bytes, 0.0, std::numeric_limits<double>::max());
    if (!reading.ok()) return refuse(fmt::format("{} is not a number of bytes", in_quotes(bytes)));
    row_.bytes = reading.value;
  }

  void relate() {
    for (const std::string& column : rule_.ranked) row_.ranked_key += cells_.at(column) + ' ';
    if (!rule_.alone) return;
    for (const std::string& column : rule_.alone->same) row_.alone_key += cells_.at(column) + '\n';
    if (!rule_.alone->column.empty()) row_.speedup_measured = number(rule_.alone->column);
  }

  const ValidationRule& rule_;
  Cells cells_;
  MeasuredRow row_;
};

}  // namespace

std::vector<MeasuredRow> measured_rows(const ValidationRule& rule, const CsvTable& table) {
  check_columns(rule, table);
  std::vector<MeasuredRow> rows;
  for (const CsvRow& row : table.rows) {
    if (std::optional<MeasuredRow> made = RowMaker(rule, table, row).make()) rows.push_back(std::move(*made));
  }
  return rows;
}

}  // namespace gpuscale

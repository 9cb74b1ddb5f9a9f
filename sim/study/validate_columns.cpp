#include "study/validate_columns.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>

namespace gpuscale {

namespace {

/// Asks for columns in the order in which a rule uses them.
class ColumnCheck {
 public:
  ColumnCheck(const ValidationRule& rule, const CsvTable& table) : rule_(rule), table_(table) {
    known_.assign(table.columns.begin(), table.columns.end());
  }

  std::vector<Problem> run() {
    ask(rule_.data_place, kIdColumn);
    for (const NamedRuleValue& named : rule_.derive) {
      ask(named.value);
      known_.emplace_back(named.name);
    }
    ask(rule_.rows);
    for (const SkipRule& skip : rule_.skip) ask(skip.where);
    for (const NamedRuleValue& named : rule_.set) ask(named.value);
    ask(rule_.measured.place, rule_.measured.column);
    ask(rule_.measured.kind);
    for (const NamedRuleValue& named : rule_.measured.against) ask(named.value);
    for (const std::string& column : rule_.ranked) ask(rule_.ranked_place, column);
    if (rule_.class_name) ask(*rule_.class_name);
    if (rule_.exchange) {
      for (const RuleValue* value : {&rule_.exchange->collective, &rule_.exchange->bytes, &rule_.exchange->transport})
        ask(*value);
      if (rule_.exchange->algorithm) ask(*rule_.exchange->algorithm);
      if (rule_.exchange->machine) ask(*rule_.exchange->machine);
      if (rule_.exchange->ranks) ask(*rule_.exchange->ranks);
    }
    if (rule_.alone) {
      for (const std::string& column : rule_.alone->same) ask(rule_.alone->place, column);
      if (!rule_.alone->column.empty()) ask(rule_.alone->place, rule_.alone->column);
    }
    return std::move(problems_);
  }

 private:
  void ask(const Place& place, std::string_view column) {
    if (std::ranges::find(known_, column) != known_.end()) return;
    problems_.push_back(
        {place, fmt::format("{} has no column '{}'{}", table_.file, column, did_you_mean(column, known_))});
  }
  void ask(const std::vector<ColumnCondition>& conditions) {
    for (const ColumnCondition& condition : conditions) ask(condition.place, condition.column);
  }
  void ask(const RuleValue& value) {
    for (const std::string& column : value.columns) ask(value.place, column);
    for (const RuleCase& choice : value.cases) {
      if (!choice.text) continue;
      for (const TextPart& part : parts_of(*choice.text)) {
        if (part.is_column) ask(value.place, part.text);
      }
    }
  }

  const ValidationRule& rule_;
  const CsvTable& table_;
  std::vector<std::string_view> known_;
  std::vector<Problem> problems_;
};

}  // namespace

std::vector<TextPart> parts_of(std::string_view text) {
  constexpr std::string_view kName = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::vector<TextPart> parts;
  std::size_t plain_from = 0;
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open + 1)) {
    const std::size_t end = std::min(text.find_first_not_of(kName, open + 1), text.size());
    if (end == text.size() || text[end] != '}' || end == open + 1) continue;
    if (open > plain_from) parts.push_back({text.substr(plain_from, open - plain_from), false});
    parts.push_back({text.substr(open + 1, end - open - 1), true});
    plain_from = end + 1;
  }
  if (plain_from < text.size()) parts.push_back({text.substr(plain_from), false});
  return parts;
}

void check_columns(const ValidationRule& rule, const CsvTable& table) {
  std::vector<Problem> problems = ColumnCheck(rule, table).run();
  if (!problems.empty()) throw ScenarioError(std::move(problems));
}

}  // namespace gpuscale

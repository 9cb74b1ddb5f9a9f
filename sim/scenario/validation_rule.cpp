#include "scenario/validation_rule.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "scenario/map_reader.hpp"
#include "scenario/rule_value_reader.hpp"
#include "scenario/schema.hpp"
#include "scenario/yaml_parse.hpp"

namespace gpuscale {

namespace fs = std::filesystem;

namespace {

std::vector<ColumnCondition> read_conditions(const YamlValue& value, std::string_view what, Reading& reading) {
  std::vector<ColumnCondition> conditions;
  if (!value.is_map()) {
    reading.note(value.place(),
                 fmt::format("'{}' must be a map of columns and patterns, such as {{id: \"abc-*\"}}, not {}", what,
                             words(value.kind)));
    return conditions;
  }
  for (const YamlEntry& entry : value.entries) {
    conditions.push_back({entry.place(), entry.key, read_texts(entry.value, entry.key, reading)});
  }
  return conditions;
}

std::vector<SkipRule> read_skip(const YamlValue& value, Reading& reading) {
  std::vector<SkipRule> skips;
  if (!value.is_list()) {
    reading.note(value.place(),
                 fmt::format("'skip' must be a list of {{where: ..., reason: ...}}, not {}", words(value.kind)));
    return skips;
  }
  for (const YamlValue& item : value.items) {
    MapReader reader(item, "skip", "-", reading);
    SkipRule skip;
    if (const YamlValue* where = reader.require("where", "{notes: \"*SUSPECT*\"}")) {
      skip.where = read_conditions(*where, "where", reading);
    }
    skip.reason = reader.text("reason", "superlinear baseline");
    reader.finish();
    skips.push_back(std::move(skip));
  }
  return skips;
}

std::vector<NamedRuleValue> read_named(const YamlValue& value, std::string_view what, bool may_be_yaml,
                                       Reading& reading) {
  std::vector<NamedRuleValue> named;
  if (!value.is_map()) {
    reading.note(value.place(), fmt::format("'{}' must be a map, not {}", what, words(value.kind)));
    return named;
  }
  for (const YamlEntry& entry : value.entries) {
    named.push_back({entry.key, read_rule_value(entry.value, entry.key, may_be_yaml, reading)});
  }
  return named;
}

/// Keys of `set` where a row is no scenario.
void check_keys(const YamlValue& set, CheckKind check, std::span<const std::string_view> known, Reading& reading) {
  for (const YamlEntry& entry : set.entries) {
    if (std::ranges::find(known, entry.key) != known.end()) continue;
    reading.note(entry.place(), fmt::format("a row of {} has no key '{}'; write {}{}",
                                            kCheckKindNames[static_cast<std::size_t>(check)], entry.key, one_of(known),
                                            did_you_mean(entry.key, known)));
  }
}

/// A misspelt key would leave every row unused.
void check_paths(const YamlValue& set, CheckKind check, Reading& reading) {
  constexpr std::array<std::string_view, 4> kKernelKeys = {"gpu", "precision", "kernel", "shape"};
  if (check == CheckKind::kernels) return check_keys(set, check, kKernelKeys, reading);
  std::vector<std::string_view> known;
  for (const SchemaKey& key : scenario_schema()) known.push_back(key.path);
  for (const YamlEntry& entry : set.entries) {
    if (is_scenario_path(entry.key)) continue;
    const std::string hint = did_you_mean(entry.key, known);
    reading.note(entry.place(), fmt::format("a scenario has no key '{}'{}", entry.key,
                                            hint.empty() ? "; 'gpuscale schema' lists the keys" : hint));
  }
}

double read_unit(MapReader& reader) {
  constexpr std::array<std::string_view, 9> kUnits = {"s", "ms", "us", "min", "h", "MB", "MiB", "GB", "GiB"};
  constexpr std::array<double, 9> kSizes = {1.0, 1e-3, 1e-6, 60.0, 3600.0, 1e6, 1048576.0, 1e9, 1073741824.0};
  return kSizes[reader.choice_or("unit", kUnits, 0)];
}

void check_kinds(const RuleValue& value, Reading& reading) {
  for (const RuleCase& choice : value.cases) {
    if (choice.text && std::ranges::find(kMeasuredKindNames, *choice.text) == kMeasuredKindNames.end()) {
      reading.note(value.place,
                   fmt::format("'{}' is nothing that is measured; write {}{}", *choice.text, one_of(kMeasuredKindNames),
                               did_you_mean(*choice.text, kMeasuredKindNames)));
    }
  }
}

MeasuredRule read_measured(const YamlValue& value, Reading& reading) {
  constexpr double kMostSamples = 1e12;
  MeasuredRule measured;
  measured.place = value.place();
  MapReader reader(value, "measured", "-", reading);
  measured.column = reader.text_or("column", measured.column);
  if (const YamlValue* kind = reader.require("is", "throughput")) {
    measured.kind = read_rule_value(*kind, "is", false, reading);
    check_kinds(measured.kind, reading);
  }
  measured.unit = read_unit(reader);
  measured.samples = reader.number_or("samples", 1.0, 1.0, kMostSamples);
  for (const std::string_view key : {"percent_of", "over"}) {
    const YamlValue* other = reader.find(key);
    if (other == nullptr) continue;
    measured.against = read_named(*other, key, true, reading);
    check_paths(*other, CheckKind::training, reading);
  }
  reader.finish();
  return measured;
}

AloneRule read_alone(const YamlValue& value, Reading& reading) {
  AloneRule alone;
  alone.place = value.place();
  if (value.is_list()) {
    alone.same = read_texts(value, "alone", reading);
    return alone;
  }
  MapReader reader(value, "alone", "-", reading);
  alone.column = reader.text("column", "speedup_vs_1");
  reader.finish();
  return alone;
}

ExchangeRule read_exchange_rule(const YamlValue& value, Reading& reading) {
  ExchangeRule rule;
  MapReader reader(value, "exchange", "-", reading);
  const auto required = [&](std::string_view key, std::string_view example) {
    const YamlValue* found = reader.require(key, example);
    return found != nullptr ? read_rule_value(*found, key, false, reading) : RuleValue{};
  };
  rule.collective = required("collective", "{column: collective, cases: {all_reduce: all-reduce}}");
  rule.bytes = required("bytes", "\"{bytes}\"");
  rule.transport = required("transport", "nccl-2.27");
  if (const YamlValue* name = reader.find("algorithm"))
    rule.algorithm = read_rule_value(*name, "algorithm", false, reading);
  if (const YamlValue* name = reader.find("machine")) rule.machine = read_rule_value(*name, "machine", false, reading);
  if (const YamlValue* ranks = reader.find("ranks")) rule.ranks = read_rule_value(*ranks, "ranks", false, reading);
  reader.finish();
  return rule;
}

void read_data(MapReader& reader, const fs::path& file, ValidationRule& rule) {
  const fs::path path(reader.text("data", "../data/classic.csv"));
  rule.data = path.is_absolute() ? path : file.parent_path() / path;
  rule.data_place = reader.place("data");
}

void read_parts(MapReader& reader, ValidationRule& rule) {
  Reading& reading = reader.reading();
  if (const YamlValue* rows = reader.find("rows")) rule.rows = read_conditions(*rows, "rows", reading);
  if (const YamlValue* derive = reader.find("derive")) rule.derive = read_named(*derive, "derive", false, reading);
  if (const YamlValue* skip = reader.find("skip")) rule.skip = read_skip(*skip, reading);
  if (const YamlValue* set = reader.require("set", "{workload.model: \"{model}\"}")) {
    rule.set = read_named(*set, "set", true, reading);
    check_paths(*set, rule.check, reading);
  }
  if (const YamlValue* measured = reader.require("measured", "{column: value, is: throughput}")) {
    rule.measured = read_measured(*measured, reading);
  }
  if (const YamlValue* alone = reader.find("alone")) rule.alone = read_alone(*alone, reading);
  if (const YamlValue* ranked = reader.find("ranked")) {
    rule.ranked = read_texts(*ranked, "ranked", reading);
    rule.ranked_place = ranked->place();
  }
  if (const YamlValue* exchange = reader.find("exchange")) rule.exchange = read_exchange_rule(*exchange, reading);
  if (const YamlValue* name = reader.find("class")) rule.class_name = read_rule_value(*name, "class", false, reading);
}

ValidationRule read_rule(const YamlValue& root, const fs::path& file, Reading& reading) {
  ValidationRule rule;
  MapReader reader(root, "validation rule", "-", reading);
  rule.name = reader.text("name", file.stem().string());
  rule.name_place = reader.place("name");
  rule.citation = reader.text("citation", "who measured it and where it is published");
  read_data(reader, file, rule);
  rule.check = static_cast<CheckKind>(reader.choice_or("check", kCheckKindNames, 0));
  read_parts(reader, rule);
  if (rule.check == CheckKind::collectives && !rule.exchange) {
    reading.note(reader.place(),
                 "a rule that checks collectives needs 'exchange'; add {collective: ..., bytes: ..., ...}");
  }
  reader.finish();
  return rule;
}

std::vector<fs::path> rule_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".yaml") files.push_back(entry->path());
  }
  std::ranges::sort(files);
  if (error) throw ScenarioError({{{folder.string(), 0, 0}, fmt::format("cannot be read: {}", error.message())}});
  if (files.empty())
    throw ScenarioError({{{folder.string(), 0, 0}, "the folder has no rules; a rule is a .yaml file"}});
  return files;
}

void check_names(const std::vector<ValidationRule>& rules, std::vector<Problem>& problems) {
  for (auto rule = rules.begin(); rule != rules.end(); ++rule) {
    const auto same = std::find_if(rules.begin(), rule, [&](const auto& other) { return other.name == rule->name; });
    if (same == rule) continue;
    problems.push_back(
        {rule->name_place, fmt::format("the name '{}' is taken by {}", rule->name, same->name_place.file)});
  }
}

}  // namespace

ValidationRule read_validation_rule(const fs::path& file, const Library& library) {
  const std::shared_ptr<const YamlDocument> document = library.document(file);
  if (!document->problems.empty()) throw ScenarioError(document->problems);
  Reading reading(library);
  ValidationRule rule = read_rule(document->root, file, reading);
  if (!reading.problems().empty()) throw ScenarioError(reading.problems());
  return rule;
}

std::vector<ValidationRule> read_validation_rules(const fs::path& folder, const Library& library) {
  std::vector<ValidationRule> rules;
  std::vector<Problem> problems;
  for (const fs::path& file : rule_files(folder)) {
    try {
      rules.push_back(read_validation_rule(file, library));
    } catch (const ScenarioError& error) {
      problems.insert(problems.end(), error.problems().begin(), error.problems().end());
    }
  }
  check_names(rules, problems);
  if (!problems.empty()) throw ScenarioError(std::move(problems));
  return rules;
}

}  // namespace gpuscale

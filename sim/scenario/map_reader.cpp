#include "scenario/map_reader.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <system_error>

#include "scenario/schema.hpp"

namespace gpuscale {

namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

MapReader::MapReader(const YamlValue& map, std::string what, std::string path, Reading& reading,
                     const Bindings* bindings)
    : map_(&map), what_(std::move(what)), path_(std::move(path)), reading_(&reading), bindings_(bindings) {
  if (map.is_map()) return;
  if (map.is_null()) {
    reading.note(map.place(), fmt::format("{} has no keys", what_));
  } else {
    reading.note(map.place(), fmt::format("{} must be a map of keys and values, not {}", what_, words(map.kind)));
  }
}

std::string MapReader::path(std::string_view key) const {
  if (path_ == "-") return path_;
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void MapReader::ask(std::string_view key) {
  if (std::ranges::find(asked_, key) != asked_.end()) return;
  asked_.emplace_back(key);
  if (reading_->asked != nullptr && path_ != "-") reading_->asked->insert(path(key));
}

Place MapReader::place(std::string_view key) const {
  const YamlEntry* entry = map_->find(key);
  return entry == nullptr ? map_->place() : entry->value.place();
}

const YamlValue* MapReader::find(std::string_view key) {
  ask(key);
  const YamlEntry* entry = map_->find(key);
  if (entry == nullptr) return nullptr;
  const YamlValue* value = substituted(entry->value, bindings_, *reading_);
  if (value != nullptr && value->is_null()) {
    reading_->note(entry->place(), fmt::format("'{}' has no value; give it one or leave the key out", key));
    return nullptr;
  }
  if (value != nullptr && path_ != "-") reading_->found(path(key), value->place());
  return value;
}

const YamlValue* MapReader::require(std::string_view key, std::string_view example) {
  const YamlValue* value = find(key);
  if (value == nullptr && map_->is_map() && map_->find(key) == nullptr) {
    reading_->note(map_->place(), fmt::format("{} has no '{}'; add a line such as '{}: {}'", what_, key, key, example));
  }
  return value;
}

std::string MapReader::text(std::string_view key, std::string_view example) {
  const YamlValue* value = require(key, example);
  return value == nullptr ? std::string() : read_text(*value, key, *reading_).value_or("");
}

std::string MapReader::text_or(std::string_view key, std::string fallback) {
  const YamlValue* value = find(key);
  return value == nullptr ? fallback : read_text(*value, key, *reading_).value_or(fallback);
}

bool MapReader::boolean_or(std::string_view key, bool fallback) {
  const YamlValue* value = find(key);
  if (value == nullptr) return fallback;
  if (value->is_scalar() && value->text == "true") return true;
  if (value->is_scalar() && value->text == "false") return false;
  reading_->note(value->place(), fmt::format("'{}' is true or false, not {}", key,
                                             value->is_scalar() ? in_quotes(value->text) : words(value->kind)));
  return fallback;
}

std::int64_t MapReader::whole(std::string_view key, std::int64_t least, std::int64_t most) {
  const YamlValue* value = require(key, std::to_string(std::max<std::int64_t>(least, 1)));
  return value == nullptr ? least : read_whole(*value, least, most, *reading_).value_or(least);
}

std::int64_t MapReader::whole_or(std::string_view key, std::int64_t fallback, std::int64_t least, std::int64_t most) {
  const YamlValue* value = find(key);
  return value == nullptr ? fallback : read_whole(*value, least, most, *reading_).value_or(fallback);
}

double MapReader::number(std::string_view key, double least, double most) {
  if (require(key, fmt::format("{:g}", most)) == nullptr) return least;
  return number_or(key, least, least, most);
}

double MapReader::number_or(std::string_view key, double fallback, double least, double most) {
  const YamlValue* value = find(key);
  if (value == nullptr) return fallback;
  const std::optional<std::string> text = read_text(*value, key, *reading_);
  if (!text) return fallback;
  const QuantityReading number = read_number(*text, least, most);
  if (number.ok()) return number.value;
  reading_->note(value->place(), fmt::format("'{}': {}", key, number.problem));
  return fallback;
}

double MapReader::needed(std::string_view key, QuantityKind kind, Zero zero) {
  const double instead = 1.0;
  const YamlValue* value = require(key, example(kind));
  return value == nullptr ? instead : gpuscale::read_quantity(*value, kind, zero, *reading_).value_or(instead);
}

std::optional<double> MapReader::optional(std::string_view key, QuantityKind kind, Zero zero) {
  const YamlValue* value = find(key);
  return value == nullptr ? std::nullopt : gpuscale::read_quantity(*value, kind, zero, *reading_);
}

std::size_t MapReader::choice(std::string_view key, std::span<const std::string_view> names) {
  const YamlValue* value = require(key, names.front());
  return value == nullptr ? 0 : read_choice(*value, key, names, *reading_).value_or(0);
}

std::size_t MapReader::choice_or(std::string_view key, std::span<const std::string_view> names, std::size_t fallback) {
  const YamlValue* value = find(key);
  return value == nullptr ? fallback : read_choice(*value, key, names, *reading_).value_or(fallback);
}

void MapReader::finish() {
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const YamlEntry& entry : map_->entries) {
    if (std::ranges::find(known, entry.key) != known.end()) continue;
    std::string hint = did_you_mean(entry.key, known);
    if (hint.empty() && path_ != "-") hint = key_elsewhere(entry.key, path_);
    if (hint.empty()) {
      std::vector<std::string_view> sorted = known;
      std::ranges::sort(sorted);
      hint = sorted.empty() ? "; it has no keys" : fmt::format("; it has {}", fmt::join(sorted, ", "));
    }
    reading_->note(entry.place(), fmt::format("unknown key {} in {}{}", in_quotes(entry.key), what_, hint));
  }
}

std::optional<std::string> read_text(const YamlValue& value, std::string_view what, Reading& reading) {
  if (value.is_scalar() && !value.text.empty()) return value.text;
  if (value.is_scalar()) {
    reading.note(value.place(), fmt::format("'{}' is empty; write a text", what));
  } else {
    reading.note(value.place(), fmt::format("'{}' must be a single value, not {}", what, words(value.kind)));
  }
  return std::nullopt;
}

std::optional<std::int64_t> read_whole(const YamlValue& value, std::int64_t least, std::int64_t most,
                                       Reading& reading) {
  const auto refuse = [&](std::string text) {
    reading.note(value.place(), std::move(text));
    return std::nullopt;
  };
  if (!value.is_scalar()) return refuse(fmt::format("a whole number must stand here, not {}", words(value.kind)));
  const std::string_view text = value.text;
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (!is_digits(digits)) {
    return refuse(fmt::format("{} is not a whole number; write digits only, such as {}", in_quotes(text),
                              std::clamp<std::int64_t>(4, least, most)));
  }
  if (digits.size() > 1 && digits.front() == '0') {
    const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
    return refuse(fmt::format("{} starts with a zero, which YAML may read as octal; write {}", in_quotes(text),
                              digits.substr(first)));
  }
  std::int64_t number = 0;
  const std::from_chars_result result = std::from_chars(text.data(), text.data() + text.size(), number);
  if (result.ec != std::errc() || number > most) {
    return text.starts_with('-')
               ? refuse(fmt::format("{} is below {}, the least that makes sense here", in_quotes(text), least))
               : refuse(fmt::format("{} is more than {}, the most this program takes here", in_quotes(text), most));
  }
  if (number < least)
    return refuse(fmt::format("{} is below {}, the least that makes sense here", in_quotes(text), least));
  return number;
}

std::optional<double> read_quantity(const YamlValue& value, QuantityKind kind, Zero zero, Reading& reading) {
  if (!value.is_scalar()) {
    reading.note(value.place(),
                 fmt::format("{} must stand here, such as {}, not {}", words(kind), example(kind), words(value.kind)));
    return std::nullopt;
  }
  QuantityReading result = read_quantity(value.text, kind, zero == Zero::allowed);
  if (result.ok()) return result.value;
  reading.note(value.place(), std::move(result.problem));
  return std::nullopt;
}

std::optional<std::size_t> read_choice(const YamlValue& value, std::string_view what,
                                       std::span<const std::string_view> names, Reading& reading) {
  if (!value.is_scalar()) {
    reading.note(value.place(), fmt::format("'{}' must be {}, not {}", what, one_of(names), words(value.kind)));
    return std::nullopt;
  }
  const auto found = std::ranges::find(names, value.text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::string hint = did_you_mean(value.text, names);
  reading.note(value.place(), fmt::format("unknown {} {}{}", what, in_quotes(value.text),
                                          hint.empty() ? fmt::format("; write {}", one_of(names)) : hint));
  return std::nullopt;
}

const YamlValue* substituted(const YamlValue& value, const Bindings* bindings, Reading& reading) {
  if (bindings == nullptr || !value.is_scalar() || value.quoted || !value.text.starts_with('$')) return &value;
  const std::string_view name = std::string_view(value.text).substr(1);
  const auto found = std::ranges::find(*bindings, name, [](const auto& binding) { return binding.first; });
  if (found != bindings->end()) return found->second;
  std::vector<std::string_view> names;
  for (const auto& binding : *bindings) names.push_back(binding.first);
  reading.note(value.place(),
               fmt::format("no parameter {} in this block{}", in_quotes(value.text), did_you_mean(name, names)));
  return nullptr;
}

}  // namespace gpuscale

#include "scenario/data_file.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>
#include <vector>

#include "scenario/library.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace fs = std::filesystem;

namespace {

bool is_path(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

/// A folded text (`source: >`) on one line, without the line break at its end.
std::string on_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  text.erase(std::min(text.find_last_not_of(' ') + 1, text.size()));
  return text;
}

std::optional<DataSource> open_data(const fs::path& file, std::string id, const DataKind& kind, Reading& reading) {
  DataSource source;
  source.document = reading.library().document(file);
  source.id = std::move(id);
  if (!source.document->problems.empty()) {
    reading.note(source.document->problems);
    return std::nullopt;
  }
  source.map = &source.document->root;
  if (source.map->is_null()) {
    reading.note({file.string(), 0, 0}, fmt::format("the file is empty; a {} stands in it", kind.what));
    return std::nullopt;
  }
  if (!source.map->is_map()) {
    reading.note(source.map->place(),
                 fmt::format("a {} file must be a map of keys and values, not {}", kind.what, words(source.map->kind)));
    return std::nullopt;
  }
  return source;
}

std::optional<DataSource> find_by_path(const YamlValue& value, const DataKind& kind, Reading& reading) {
  if (value.text.find('\0') != std::string::npos) {
    reading.note(value.place(), fmt::format("{} is not a path", in_quotes(value.text)));
    return std::nullopt;
  }
  fs::path file(value.text);
  // What --set gives counts from where the program runs, what a file says from that file.
  if (file.is_relative() && value.line > 0 && value.file) {
    const fs::path folder = fs::path(*value.file).parent_path();
    if (!folder.empty()) file = folder / file;
  }
  std::error_code error;
  if (!fs::exists(file, error)) {
    reading.note(value.place(), fmt::format("there is no {} file {}", kind.what, in_quotes(file.string())));
    return std::nullopt;
  }
  return open_data(file, file.stem().string(), kind, reading);
}

}  // namespace

std::optional<DataSource> find_by_name(std::string_view name, const Place& place, const DataKind& kind,
                                       Reading& reading) {
  const fs::path file = reading.library().find(kind.folder, name);
  if (!file.empty()) {
    std::optional<DataSource> source = open_data(file, std::string(name), kind, reading);
    if (source) source->from_library = true;
    return source;
  }
  const std::vector<std::string> names = reading.library().names(kind.folder);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string hint = did_you_mean(name, views);
  std::string way_out;
  if (!kind.list.empty()) {
    way_out = fmt::format("{}'gpuscale list {}' shows all names", hint.empty() ? "; " : " ", kind.list);
  } else if (hint.empty()) {
    way_out = names.empty() ? fmt::format("; no library folder has a {}", kind.folder)
                            : fmt::format("; there are {}", fmt::join(names, ", "));
  }
  reading.note(place, fmt::format("unknown {} {}{}{}", kind.what, in_quotes(name), hint, way_out));
  return std::nullopt;
}

std::optional<DataSource> find_data(const YamlValue& value, const DataKind& kind, Reading& reading) {
  if (value.is_map()) {
    DataSource source;
    source.map = &value;
    source.id = "inline";
    return source;
  }
  if (!value.is_scalar() || value.text.empty()) {
    reading.note(value.place(), fmt::format("a {} must be a name, a path or a map, not {}", kind.what,
                                            value.is_scalar() ? "an empty text" : words(value.kind)));
    return std::nullopt;
  }
  return is_path(value.text) ? find_by_path(value, kind, reading)
                             : find_by_name(value.text, value.place(), kind, reading);
}

DataHead read_head(MapReader& reader, const DataSource& data, Dated dated) {
  DataHead head;
  std::string as_of;
  if (data.from_library) {
    head.name = reader.text("name", "GeForce GTX 1080 Ti");
    head.source = reader.text("source", "where the figures come from");
    if (dated == Dated::yes) as_of = reader.text("as_of", "2026-11-30");
  } else {
    head.name = reader.text_or("name", data.id);
    head.source = reader.text_or("source", "");
  }
  head.name = on_one_line(std::move(head.name));
  head.source = on_one_line(std::move(head.source));
  if (as_of.empty()) as_of = reader.text_or("as_of", "");
  if (!as_of.empty() && !is_iso_date(as_of)) {
    reader.reading().note(reader.place("as_of"),
                          fmt::format("{} is not a date; write year-month-day, such as 2026-11-30", in_quotes(as_of)));
  }
  if (data.document != nullptr && data.map->file) {
    const std::string date = as_of.empty() ? std::string() : fmt::format(" ({})", as_of);
    reader.reading().used(fmt::format("{}{}: {}", reader.reading().library().within(*data.map->file), date,
                                      head.source.empty() ? "no source given" : head.source));
  }
  return head;
}

bool is_iso_date(std::string_view text) {
  constexpr std::string_view kPattern = "dddd-dd-dd";
  if (text.size() != 4 && text.size() != 7 && text.size() != 10) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (is_digit != (kPattern[i] == 'd') || (!is_digit && text[i] != '-')) return false;
  }
  const auto number = [&](std::size_t at) { return (text[at] - '0') * 10 + (text[at + 1] - '0'); };
  if (text.size() >= 7 && (number(5) < 1 || number(5) > 12)) return false;
  return text.size() < 10 || (number(8) >= 1 && number(8) <= 31);
}

}  // namespace gpuscale

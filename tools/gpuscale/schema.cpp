#include "scenario/schema.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "exit_code.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report/columns.hpp"
#include "report/csv.hpp"
#include "schema_json.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale::tool {

namespace {

using Keys = std::vector<SchemaKey>;

/// The keys below the paths asked for; all without one. Inline data is long, so it is only shown where asked for.
bool is_at_or_below(std::string_view path, std::string_view above) {
  if (above.empty() || path == above) return true;
  return path.size() > above.size() && path.starts_with(above) &&
         (path[above.size()] == '.' || path[above.size()] == '[');
}

Keys keys_below(const std::vector<std::string>& paths) {
  const std::span<const SchemaKey> all = scenario_schema();
  if (paths.empty()) return {all.begin(), all.end()};
  Keys keys;
  for (const std::string& path : paths) {
    const std::size_t before = keys.size();
    std::ranges::copy_if(all, std::back_inserter(keys),
                         [&](const SchemaKey& key) { return is_at_or_below(key.path, path); });
    if (keys.size() > before) continue;
    std::vector<std::string_view> known;
    for (const SchemaKey& key : all) known.push_back(key.path);
    throw UsageError(fmt::format("a scenario has no key {}{}", in_quotes(path), did_you_mean(path, known)));
  }
  return keys;
}

std::vector<TextColumn> columns_of(const Keys& keys) {
  std::vector<TextColumn> columns = {{.title = "key", .right = false, .dispensable = 0, .cells = {}},
                                     {.title = "type", .right = false, .dispensable = 0, .cells = {}},
                                     {.title = "default", .right = false, .dispensable = 0, .cells = {}},
                                     {.title = "meaning", .right = false, .dispensable = 0, .cells = {}}};
  for (const SchemaKey& key : keys) {
    columns[0].cells.emplace_back(key.path);
    columns[1].cells.emplace_back(key.type);
    columns[2].cells.emplace_back(key.default_value);
    columns[3].cells.emplace_back(key.meaning);
  }
  return columns;
}

/// Two lines a key, indented by depth, because types and meanings are too long for columns.
void write_tree(std::ostream& out, const Keys& keys, const TextStyle& style) {
  for (const SchemaKey& key : keys) {
    const auto depth = static_cast<std::size_t>(std::ranges::count(key.path, '.'));
    const bool required = key.default_value.starts_with("required");
    out << (depth == 0 && key.path != keys.front().path ? "\n" : "") << std::string(2 * depth, ' ')
        << bold(key.path, style) << "  " << key.type << dim(required ? "  [" : "  [default: ", style)
        << (required ? std::string(key.default_value) : dim(key.default_value, style)) << dim("]", style) << '\n';
    const std::size_t indent = 2 * depth + 4;
    out << std::string(indent, ' ') << wrapped(key.meaning, style.width, indent) << '\n';
  }
}

void write_csv_rows(std::ostream& out, const Keys& keys) {
  out << "key,type,default,meaning\n";
  for (const SchemaKey& key : keys) {
    out << csv_cell(key.path) << ',' << csv_cell(key.type) << ',' << csv_cell(key.default_value) << ','
        << csv_cell(key.meaning) << '\n';
  }
}

}  // namespace

int schema_command(const Invocation& invocation) {
  ArgumentParser parser("schema [KEY...] [options]",
                        "Shows the keys of a scenario with type, default and meaning: all, or those at and below the "
                        "keys given. With --format json it is a JSON Schema (draft 2020-12) for editors to check and "
                        "complete scenarios with.");
  std::vector<std::string> paths;
  OutputOptions output;
  parser.rest(paths);
  output.add_to(parser);
  parser.example("gpuscale schema strategy");
  parser.example("gpuscale schema --format json > scenario.schema.json");
  if (!parser.parse(invocation.arguments)) return kDone;
  const Format format = read_format(output.format);
  const Keys keys = keys_below(paths);
  if (format == Format::json && !paths.empty())
    throw UsageError("the JSON Schema is of the whole scenario; leave out the keys");
  Result result(output.output);
  switch (format) {
    case Format::table:
      write_tree(result.stream(), keys, result.style(output.verbose));
      break;
    case Format::json:
      result.stream() << json_schema(keys);
      break;
    case Format::csv:
      write_csv_rows(result.stream(), keys);
      break;
    case Format::md:
      result.stream() << pipe_table(columns_of(keys));
      break;
  }
  result.finish();
  return kDone;
}

}  // namespace gpuscale::tool

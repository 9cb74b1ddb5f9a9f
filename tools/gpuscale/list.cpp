#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "catalogue.hpp"
#include "exit_code.hpp"
#include "options.hpp"
#include "output.hpp"
#include "report/columns.hpp"
#include "report/csv.hpp"
#include "report/version.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale::tool {

namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kWidestWords = 48;

using Kinds = std::vector<const CatalogueKind*>;

Kinds chosen(const std::vector<std::string>& words) {
  Kinds kinds;
  std::vector<std::string_view> names;
  for (const CatalogueKind& kind : catalogue_kinds()) {
    names.push_back(kind.name);
    if (words.empty()) kinds.push_back(&kind);
  }
  for (const std::string& word : words) {
    const auto found = std::ranges::find(names, word);
    if (found == names.end()) {
      throw UsageError(fmt::format("{} is not listed; there are {}{}", in_quotes(word), fmt::join(names, ", "),
                                   did_you_mean(word, names)));
    }
    kinds.push_back(&catalogue_kinds()[static_cast<std::size_t>(found - names.begin())]);
  }
  return kinds;
}

std::vector<TextColumn> columns_of(const Catalogue& catalogue) {
  std::vector<TextColumn> columns;
  for (std::size_t i = 0; i < catalogue.columns.size(); ++i) {
    const CatalogueColumn& column = catalogue.columns[i];
    columns.push_back({.title = std::string(column.title),
                       .right = column.right,
                       .dispensable = column.dispensable,
                       .cells = {},
                       .longest = kWidestWords});
    for (const std::vector<Cell>& row : catalogue.rows) columns.back().cells.push_back(row[i].text);
  }
  return columns;
}

Json json_of(const Catalogue& catalogue) {
  Json rows = Json::array();
  for (const std::vector<Cell>& row : catalogue.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto set = [&](const auto& value) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) {
          object[std::string(catalogue.columns[i].key)] = value;
        }
      };
      std::visit(set, row[i].value);
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

void write_csv_rows(std::ostream& out, const Catalogue& catalogue) {
  const auto write = [&](const auto& texts) {
    bool first = true;
    for (const std::string& text : texts) {
      out << (first ? "" : ",") << csv_cell(text);
      first = false;
    }
    out << '\n';
  };
  std::vector<std::string> line;
  for (const CatalogueColumn& column : catalogue.columns) line.emplace_back(column.key);
  write(line);
  for (const std::vector<Cell>& row : catalogue.rows) {
    line.clear();
    for (const Cell& cell : row) line.push_back(plain_text(cell.value));
    write(line);
  }
}

/// Without a kind: what kinds there are and the names of each.
void write_overview(std::ostream& out, const Library& library, const TextStyle& style) {
  for (const CatalogueKind& kind : catalogue_kinds()) {
    const std::vector<std::string> names = library.names(kind.folder);
    out << bold(kind.name, style) << fmt::format(" ({}): {}\n", names.size(), kind.what);
    if (!names.empty())
      out << "  " << wrapped(printable(fmt::format("{}", fmt::join(names, " "))), style.width, 2) << '\n';
  }
  out << "\n'gpuscale list gpus' and so on show the figures; data is read from:\n";
  for (const std::filesystem::path& root : library.roots()) out << "  " << printable(root.string()) << '\n';
}

void write_tables(std::ostream& out, const Kinds& kinds, const std::vector<Catalogue>& catalogues, Format format,
                  const TextStyle& style) {
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (i > 0) out << '\n';
    if (kinds.size() > 1 && format != Format::csv)
      out << (format == Format::md ? "## " : "") << kinds[i]->name << "\n\n";
    if (format == Format::csv) {
      write_csv_rows(out, catalogues[i]);
    } else if (format == Format::md) {
      out << pipe_table(columns_of(catalogues[i]));
    } else {
      const std::vector<TextColumn> columns = columns_of(catalogues[i]);
      const std::vector<std::string> lines = layout(columns, style.width);
      for (std::size_t line = 0; line < lines.size(); ++line) {
        out << (line == 0 ? bold(lines[line], style) : lines[line]) << '\n';
      }
      const std::string note = left_out_note(columns, style.width, kinds.size() > 1 ? "md" : "csv");
      if (!note.empty()) out << '\n' << wrapped(note, style.width, 2) << '\n';
    }
  }
}

void write_json_document(std::ostream& out, const Kinds& kinds, const std::vector<Catalogue>& catalogues) {
  Json document = {{"schema_version", kSchemaVersion}, {"program_version", kProgramVersion}};
  for (std::size_t i = 0; i < kinds.size(); ++i) document[std::string(kinds[i]->name)] = json_of(catalogues[i]);
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace

int list_command(const Invocation& invocation) {
  ArgumentParser parser(
      "list [gpus|links|machines|fabrics|clusters|models|frameworks|transports|scenarios]... [options]",
      "Shows what a scenario can name, with the figures one chooses by. Without a word: all names.");
  std::vector<std::string> words;
  OutputOptions output;
  parser.rest(words);
  output.add_to(parser);
  parser.example("gpuscale list gpus");
  parser.example("gpuscale list models --format csv");
  if (!parser.parse(invocation.arguments)) return kDone;
  const Format format = read_format(output.format);
  const Kinds kinds = chosen(words);
  if (format == Format::csv && kinds.size() > 1) throw UsageError("CSV holds one table; name one kind, such as gpus");
  Result result(output.output);
  const Library library = open_library(invocation);
  TextStyle style = result.style(output.verbose);
  if (words.empty() && format == Format::table) {
    write_overview(result.stream(), library, style);
    result.finish();
    return kDone;
  }
  std::vector<Catalogue> catalogues;
  for (const CatalogueKind* kind : kinds) catalogues.push_back(kind->read(library));
  if (format == Format::json) {
    write_json_document(result.stream(), kinds, catalogues);
  } else {
    write_tables(result.stream(), kinds, catalogues, format, style);
  }
  result.finish();
  int code = kDone;
  for (const Catalogue& catalogue : catalogues) {
    for (const Problem& problem : catalogue.problems) tell(problem);
    if (!catalogue.problems.empty()) code = kBadInput;
  }
  return code;
}

}  // namespace gpuscale::tool

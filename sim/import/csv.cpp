#include "import/csv.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace gpuscale {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostProblems = 100;

/// Takes a text apart into rows of cells.
class Scanner {
 public:
  Scanner(std::string_view text, const std::string& file) : text_(text), file_(file) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // a byte order mark
  }

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> rows;
    while (at_ < text_.size()) {
      CsvRow row = next_row();
      const bool is_empty = row.cells.size() == 1 && row.cells.front().empty();
      if (!is_empty) rows.push_back(std::move(row));
    }
    return rows;
  }

  std::vector<Problem> take_problems() { return std::move(problems_); }

 private:
  CsvRow next_row() {
    CsvRow row{.line = line_, .cells = {}};
    for (;;) {
      row.starts.push_back(static_cast<int>(at_ - line_start_) + 1);
      row.cells.push_back(at_ < text_.size() && text_[at_] == '"' ? quoted() : plain());
      if (at_ >= text_.size()) return row;
      const bool ends = text_[at_] == '\n';
      ++at_;
      if (ends) {
        begin_line(at_);
        return row;
      }
    }
  }

  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\n", at_), text_.size());
    std::string_view cell = text_.substr(at_, end - at_);
    at_ = end;
    const bool ends_line = end == text_.size() || text_[end] == '\n';
    if (ends_line && cell.ends_with('\r')) cell.remove_suffix(1);
    return std::string(cell);
  }

  std::string quoted() {
    const int opened = line_;
    std::string cell;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') begin_line(at_ + 1);
      if (text_[at_] == '"') {
        const bool doubled = at_ + 1 < text_.size() && text_[at_ + 1] == '"';
        if (!doubled) return closed(std::move(cell));
        ++at_;
      }
      cell += text_[at_];
    }
    note(opened, "a quotation mark is opened and never closed");
    return cell;
  }

  /// After the closing mark only the end of the cell may follow.
  std::string closed(std::string cell) {
    ++at_;
    const std::string rest = plain();
    if (!rest.empty()) note(line_, "text stands behind a closing quotation mark; double a mark that is part of a cell");
    return cell;
  }

  void begin_line(std::size_t at) {
    ++line_;
    line_start_ = at;
  }

  void note(int line, std::string text) {
    if (problems_.size() < kMostProblems) problems_.push_back({{file_, line, 0}, std::move(text)});
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::size_t line_start_ = 0;
  std::vector<Problem> problems_;
};

void check_columns(const CsvTable& table, int line, std::vector<Problem>& problems) {
  for (auto column = table.columns.begin(); column != table.columns.end(); ++column) {
    const bool repeated = std::find(table.columns.begin(), column, *column) != column;
    if (column->empty()) problems.push_back({{table.file, line, 0}, "a column has no name"});
    if (repeated && !column->empty()) {
      problems.push_back({{table.file, line, 0}, "the column '" + *column + "' comes twice"});
    }
  }
}

void check_lengths(const CsvTable& table, std::vector<Problem>& problems) {
  for (const CsvRow& row : table.rows) {
    if (row.cells.size() == table.columns.size()) continue;
    if (problems.size() >= kMostProblems) return;
    problems.push_back({{table.file, row.line, 0},
                        "the row has " + std::to_string(row.cells.size()) + " cells, the table has " +
                            std::to_string(table.columns.size()) + " columns"});
  }
}

[[noreturn]] void refuse(const std::string& file, std::string text) {
  throw ScenarioError({{{file, 0, 0}, std::move(text)}});
}

}  // namespace

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::ranges::find(columns, name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

CsvTable parse_csv(std::string_view text, const std::string& file) {
  Scanner scanner(text, file);
  CsvTable table{.file = file, .columns = {}, .rows = scanner.rows()};
  std::vector<Problem> problems = scanner.take_problems();
  if (table.rows.empty()) refuse(file, "the table is empty; its first line names the columns");
  const int title_line = table.rows.front().line;
  table.columns = std::move(table.rows.front().cells);
  table.rows.erase(table.rows.begin());
  check_columns(table, title_line, problems);
  check_lengths(table, problems);
  if (!problems.empty()) throw ScenarioError(std::move(problems));
  return table;
}

CsvTable read_csv(const fs::path& path) {
  const std::string file = path.string();
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    refuse(file, fs::exists(path, error) ? "is not a regular file" : "there is no such file");
  }
  if (fs::file_size(path, error) > kLargestTable) refuse(file, "is larger than 64 MiB");
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(file, "cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return parse_csv(text, file);
}

}  // namespace gpuscale

#include "report/columns.hpp"

#include <algorithm>
#include <doctest/doctest.h>

using namespace gpuscale;

namespace {

TextColumn words(std::string title, std::vector<std::string> cells) {
  return {.title = std::move(title), .right = false, .cells = std::move(cells)};
}

TextColumn numbers(std::string title, std::vector<std::string> cells, int dispensable = 0) {
  return {.title = std::move(title), .dispensable = dispensable, .cells = std::move(cells)};
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t start = 0; start < text.size();) {
    const std::size_t end = text.find('\n', start);
    widest = std::max(widest, display_width(text.substr(start, end - start)));
    start = end + 1;
  }
  return widest;
}

}  // namespace

TEST_SUITE("report") {
  TEST_CASE("words that are too long for their column go on below it") {
    const std::vector<TextColumn> columns = {words("name", {"a", "b"}),
                                             words("what", {"four words of text in one cell", "short"}),
                                             numbers("figure", {"1", "2"})};
    CHECK(joined(layout(columns, 44)) ==
          "name  what                            figure\n"
          "a     four words of text in one cell       1\n"
          "b     short                                2\n");
    CHECK(joined(layout(columns, 38, 2)) ==
          "  name  what                    figure\n"
          "  a     four words of text in        1\n"
          "        one cell\n"
          "  b     short                        2\n");
  }

  TEST_CASE("no letter of a cell is lost however narrow the table is") {
    const std::string name = "server-8x-pcie3-dual-root-with-a-very-long-name";
    const std::string unbroken(60, 'x');
    for (const std::size_t width : {30, 50, 80}) {
      CAPTURE(width);
      const std::string text =
          joined(layout({words("name", {name, unbroken}), words("of", {"one two three", "-"})}, width));
      std::string letters;
      for (const char c : text) letters += c == ' ' || c == '\n' ? "" : std::string(1, c);
      CHECK(text.find("...") == std::string::npos);
      CHECK(letters.find("server-") != std::string::npos);
      CHECK(std::ranges::count(letters, 'x') == std::ranges::count(name, 'x') + 60);
      CHECK(widest_line(text) <= width);
    }
  }

  TEST_CASE("columns that are left out are named with a way to see them") {
    const std::vector<TextColumn> columns = {numbers("a", {"1234567890"}), numbers("bee", {"1234567890"}, 1),
                                             numbers("sea", {"1234567890"}, 2)};
    CHECK(left_out_note(columns, 34).empty());
    CHECK(joined(layout(columns, 22)) == "         a         bee\n1234567890  1234567890\n");
    CHECK(left_out_note(columns, 33) ==
          "no room for the column sea: --format csv or a terminal 34 columns wide shows it");
    CHECK(left_out_note(columns, 12, "json") ==
          "no room for the columns bee, sea: --format json or a terminal 34 columns wide shows them");
  }

  TEST_CASE("the width that is named is the least that shows every column") {
    const std::vector<TextColumn> columns = {words("name", {"some words that may go on below"}),
                                             numbers("b", {"1234567890"}, 1), numbers("c", {"1234567890"}, 2)};
    const std::string note = left_out_note(columns, 40, "csv", 2);
    const std::size_t named = std::stoul(note.substr(note.find("terminal ") + 9));
    CHECK(left_out_note(columns, named, "csv", 2).empty());
    CHECK_FALSE(left_out_note(columns, named - 1, "csv", 2).empty());
    CHECK(widest_line(joined(layout(columns, named, 2))) <= named);
  }

  TEST_CASE("a terminal is named only where one can be wide enough") {
    const std::string wide(kWidestText, '1');
    CHECK(left_out_note({numbers("a", {"1"}), numbers("b", {wide}, 1)}, 100) ==
          "no room for the column b: --format csv shows it");
  }
}

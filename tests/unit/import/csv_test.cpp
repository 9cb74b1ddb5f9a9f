#include "import/csv.hpp"

#include <doctest/doctest.h>

#include "import/glob.hpp"

namespace gpuscale {

namespace {

std::string problems_of(std::string_view text) {
  try {
    static_cast<void>(parse_csv(text, "t.csv"));
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_SUITE("import") {
  TEST_CASE("a table has columns and rows of cells") {
    const CsvTable table = parse_csv("id,value\na,1\r\n\nb,\n", "t.csv");
    CHECK(table.columns == std::vector<std::string>{"id", "value"});
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0].cells == std::vector<std::string>{"a", "1"});
    CHECK(table.rows[1].cells == std::vector<std::string>{"b", ""});
    CHECK(table.rows[1].line == 4);
    CHECK(table.column("value") == 1U);
    CHECK_FALSE(table.column("other").has_value());
  }

  TEST_CASE("a row knows where each cell begins") {
    const CsvTable table = parse_csv("a,b,c\n1,\"x\ny\",22\nlong,,z\n", "t.csv");
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0].starts == std::vector<int>{1, 3, 4});  // the last one on the line where the second ends
    CHECK(table.rows[1].starts == std::vector<int>{1, 6, 7});
  }

  TEST_CASE("a quoted cell holds commas and line breaks and marks") {
    const CsvTable table = parse_csv("a,b\n\"x, \"\"y\"\"\nz\",2\nc,3", "t.csv");
    REQUIRE(table.rows.size() == 2);
    CHECK(table.rows[0].cells[0] == "x, \"y\"\nz");
    CHECK(table.rows[1].line == 4);
  }

  TEST_CASE("every problem of a table is told with its line") {
    CHECK(problems_of("") == "t.csv: error: the table is empty; its first line names the columns");
    CHECK(problems_of("a,a\n1\n1,2,3\n") ==
          "t.csv:1:1: error: the column 'a' comes twice\n"
          "t.csv:2:1: error: the row has 1 cells, the table has 2 columns\n"
          "t.csv:3:1: error: the row has 3 cells, the table has 2 columns");
    CHECK(problems_of("a,b\n1,\"2\n").starts_with("t.csv:2:1: error: a quotation mark is opened and never closed"));
    CHECK(problems_of("a\n\"1\"2\n").starts_with("t.csv:2:1: error: text stands behind a closing quotation mark"));
  }

  TEST_CASE("a star stands for any text") {
    CHECK(matches("*", ""));
    CHECK(matches("lambdatf-*", "lambdatf-0001"));
    CHECK_FALSE(matches("lambdatf-*", "xlambdatf-0001"));
    CHECK(matches("*XLA on*", "host; XLA on (per log)"));
    CHECK(matches("a*b*c", "aXbYbZc"));
    CHECK_FALSE(matches("a*b*c", "aXbYbZ"));
    CHECK_FALSE(matches("", "a"));
    CHECK(matches("FP16", "FP16"));
  }
}

}  // namespace gpuscale

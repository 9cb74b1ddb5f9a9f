#include "report/text_style.hpp"

#include <doctest/doctest.h>
#include <string>

using namespace gpuscale;

TEST_SUITE("report") {
  TEST_CASE("numbers keep three digits") {
    struct Row {
      double value;
      std::string text;
    };
    for (const Row& row :
         {Row{0, "0"}, Row{0.012345, "0.0123"}, Row{1, "1.00"}, Row{9.996, "10.0"}, Row{99.96, "100"},
          Row{999.4, "999"}, Row{999.6, "1000"}, Row{123456.7, "123457"}, Row{-2.5, "-2.50"}, Row{1e-9, "1.00e-09"}}) {
      CAPTURE(row.value);
      CHECK(number_text(row.value) == row.text);
    }
  }

  TEST_CASE("widths count characters rather than bytes") {
    CHECK(display_width("\u00b5s") == 2);
    CHECK(padded("\u00b5s", 4) == "\u00b5s  ");
    CHECK(padded("\u00b5s", 4, true) == "  \u00b5s");
  }

  TEST_CASE("wrapping breaks between words and indents what follows") {
    CHECK(wrapped("aa bb cc", 5, 0) == "aa bb\ncc");
    CHECK(wrapped("aa bb cc", 6, 3) == "aa\n   bb\n   cc");
    CHECK(wrapped("toolongaword b", 5, 0) == "toolongaword\nb");
    CHECK(wrapped("", 5, 0) == "");
  }

  TEST_CASE("percentages stay short") {
    CHECK(percent_text(0.865) == "86.5 %");
    CHECK(percent_text(9.99) == "999.0 %");
    CHECK(percent_text(25670.528) == "2.57 M%");
    CHECK(percent_text(12.34) == "1.23 k%");
  }

  TEST_CASE("control characters are shown and not sent") {
    CHECK(printable("a\x1b[31mb\x07"
                    "c\x7f") == "a\\x1b[31mb\\x07c\\x7f");
    CHECK(printable("two\nlines\tand\rmore") == "two lines and more");
    CHECK(printable("\xc2\x9b"
                    "2J \xc2\xb5s \xc3\xa4") == "\\u009b2J \xc2\xb5s \xc3\xa4");
  }
}

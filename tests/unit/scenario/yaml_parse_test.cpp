#include "scenario/yaml_parse.hpp"

#include <doctest/doctest.h>
#include <string>

#include "scenario/text_checks.hpp"

using namespace gpuscale;

namespace {

std::string first_problem(const std::string& text) {
  const YamlDocument document = parse_yaml(text, "f.yaml");
  return document.problems.empty() ? "" : to_text(document.problems.front());
}

}  // namespace

TEST_SUITE("scenario") {
  TEST_CASE("a document becomes plain values with places that count from one") {
    const YamlDocument document = parse_yaml("a: 1\nb:\n  - x\n  - {c: 'y'}\n", "f.yaml");
    REQUIRE(document.problems.empty());
    REQUIRE(document.root.is_map());
    const YamlEntry* b = document.root.find("b");
    REQUIRE(b != nullptr);
    CHECK(b->place() == Place{"f.yaml", 2, 1});
    REQUIRE(b->value.items.size() == 2);
    CHECK(b->value.items[0].text == "x");
    CHECK(b->value.items[0].place() == Place{"f.yaml", 3, 5});
    const YamlEntry* c = b->value.items[1].find("c");
    REQUIRE(c != nullptr);
    CHECK(c->value.quoted);
    CHECK(c->value.place() == Place{"f.yaml", 4, 9});
  }

  TEST_CASE("an alias is written out") {
    const YamlDocument document = parse_yaml("a: &x {k: [1, 2]}\nb: *x\n", "f.yaml");
    REQUIRE(document.problems.empty());
    CHECK(to_yaml(document.root) == "{a: {k: [1, 2]}, b: {k: [1, 2]}}");
  }

  TEST_CASE("yaml on one line reads back as the same value") {
    const std::string text = "{a: 64 per gpu, b: [x, \"010: #\", \"\"], c: null, d: \"a\\\"b\", e: \"-x\"}";
    const YamlDocument document = parse_yaml(text, "f.yaml");
    REQUIRE(document.problems.empty());
    CHECK(to_yaml(document.root) == text);
    CHECK(to_yaml(parse_yaml(to_yaml(document.root), "g.yaml").root) == text);
  }

  TEST_CASE("a file above 16 MiB is refused before it is parsed") {
    const std::string text(kLargestFile + 1, ' ');
    CHECK(first_problem(text) ==
          "f.yaml: error: the file has 16 MiB; files up to 16 MiB are read, so leave out what is "
          "not a description");
    CHECK(first_problem(std::string(1000, ' ')) == "");
  }

  TEST_CASE("nesting is taken up to 64 levels") {
    const auto nested = [](std::size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
    CHECK(first_problem(nested(64)) == "");
    CHECK(first_problem(nested(65)) ==
          "f.yaml:1:65: error: nested more than 64 levels deep; no description needs that");
    CHECK(first_problem(nested(100'000)).find("nested more than 64") != std::string::npos);
  }

  TEST_CASE("aliases that multiply are refused with little memory") {
    std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 30; ++i) {
      const std::string before = "*a" + std::to_string(i - 1);
      const std::string name = "a" + std::to_string(i);
      text += name + ": &" + name + " [" + before;
      for (int k = 0; k < 9; ++k) text += ", " + before;
      text += "]\n";
    }
    CHECK(first_problem(text).find("aliases written out") != std::string::npos);
  }

  TEST_CASE("a nested alias counts with the levels of its anchor") {
    std::string text = "a: &a [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n";
    text += "b: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[*a]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n";
    CHECK(first_problem(text).find("nested more than 64") != std::string::npos);
  }

  TEST_CASE("quotation marks that are closed are no problem") {
    CHECK(first_problem("a: \"x\\\"y\"\n") == "");
    CHECK(first_problem("a: 'it''s'\n") == "");
    CHECK(first_problem("a: |\n  \"block\n") == "");
    CHECK(first_problem("\"a\": \"b\"\n") == "");
    CHECK(first_problem("a: \"x\n\n") ==
          "f.yaml:1:4: error: not valid YAML: a quotation mark is opened and never closed");
    CHECK(first_problem("a: 'x''\n") ==
          "f.yaml:1:4: error: not valid YAML: a quotation mark is opened and never closed");
    CHECK(first_problem("\u00e9: &q \"x\n") ==
          "f.yaml:1:4: error: not valid YAML: a quotation mark is opened and never closed");
  }

  TEST_CASE("a byte order mark and line ends of another system are taken") {
    const YamlDocument document = parse_yaml(
        "\xEF\xBB\xBF"
        "a: 1\r\nb: 2\r\n",
        "f.yaml");
    REQUIRE(document.problems.empty());
    CHECK(to_yaml(document.root) == "{a: 1, b: 2}");
    CHECK(document.root.find("a")->place() == Place{"f.yaml", 1, 1});
  }

  TEST_CASE("only bytes that are UTF-8 are text") {
    CHECK(first_problem("a: \u00e9\u20ac\U0001F600\n") == "");
    for (const std::string bytes :
         {"\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\x80", "\xE2\x82"}) {
      CHECK(first_problem("a: " + bytes).find("f.yaml:1:4: error: byte 0x") == 0);
    }
    CHECK(first_problem(std::string("a: \0", 4)).find("control character 0x00") != std::string::npos);
  }
}

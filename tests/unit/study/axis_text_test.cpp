#include "study/axis_text.hpp"

#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <vector>

using namespace gpuscale;

namespace {

std::vector<std::string> values(std::string_view text) { return read_axis(text).values; }
using Texts = std::vector<std::string>;

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("a setting is everything behind the first equals sign") {
    CHECK(read_setting("a.b=4") == Setting{"a.b", "4"});
    CHECK(read_setting("a = {b: 1, c: x=y} ") == Setting{"a", "{b: 1, c: x=y}"});
    CHECK(read_setting("a=") == Setting{"a", ""});
    CHECK_THROWS_AS(read_setting("a"), std::invalid_argument);
    CHECK_THROWS_AS(read_setting("=4"), std::invalid_argument);
  }

  TEST_CASE("commas separate the values of an axis") {
    CHECK(read_axis("cluster.gpus=1,2, 4") == SweepAxis{"cluster.gpus", {"1", "2", "4"}});
    CHECK(values("a=64 per gpu,128 per gpu") == Texts{"64 per gpu", "128 per gpu"});
    CHECK(values("a=1") == Texts{"1"});
  }

  TEST_CASE("commas inside brackets and quotation marks do not separate") {
    CHECK(values("a={b: 1, c: [2, 3]},{b: 4}") == Texts{"{b: 1, c: [2, 3]}", "{b: 4}"});
    CHECK(values("a=\"x, y\",'it''s, z'") == Texts{"\"x, y\"", "'it''s, z'"});
    CHECK(values(R"(a="x\", y",z)") == Texts{R"("x\", y")", "z"});
  }

  TEST_CASE("a list in brackets is written as in a file") {
    CHECK(values("a=[1, 2, 4]") == Texts{"1", "2", "4"});
    CHECK(values("a=[[1, 2], [3]]") == Texts{"[1, 2]", "[3]"});
    CHECK(values("a=[1, 2],[3]") == Texts{"[1, 2]", "[3]"});
  }

  TEST_CASE("an axis without values is refused") {
    for (const char* text : {"a", "a=", "a=1,,2", "a=1,", "a=[]", "=1"}) {
      CAPTURE(text);
      CHECK_THROWS_AS(read_axis(text), std::invalid_argument);
    }
  }

  TEST_CASE("an axis of the command line replaces the file's in its place") {
    const std::vector<SweepAxis> file = {{"a", {"1"}}, {"b", {"2"}}};
    CHECK(merge_axes(file, {{"c", {"3"}}, {"a", {"4", "5"}}}) ==
          std::vector<SweepAxis>{{"a", {"4", "5"}}, {"b", {"2"}}, {"c", {"3"}}});
  }

  TEST_CASE("an axis of the command line says so in messages") {
    CHECK(read_axis("cluster.gpus=1,2").origin.file == "--sweep cluster.gpus");
  }

  TEST_CASE("a command line does not sweep a key twice nor set it too") {
    const SweepAxis gpus = read_axis("cluster.gpus=1,2");
    const SweepAxis cluster = read_axis("cluster={gpus: 1},{gpus: 2}");
    CHECK_THROWS_AS(check_axes({gpus, gpus}, {}), std::invalid_argument);
    CHECK_THROWS_AS(check_axes({gpus}, {{"cluster.gpus", "4"}}), std::invalid_argument);
    CHECK_THROWS_AS(check_axes({cluster}, {{"cluster.gpus", "4"}}), std::invalid_argument);
    CHECK_THROWS_AS(check_axes({gpus, cluster}, {}), std::invalid_argument);
    CHECK_NOTHROW(check_axes({cluster, gpus}, {{"workload.batch", "8 global"}}));
    CHECK_NOTHROW(check_axes({gpus}, {{"cluster", "{gpus: 1}"}}));
  }

  TEST_CASE("what is set is not swept by the file") {
    const std::vector<SweepAxis> file = {{"a.b", {"1"}}, {"c", {"2"}}};
    std::vector<Setting> removed;
    CHECK(without_set_axes(file, {{"a.b", "4"}, {"d", "5"}}, removed) == std::vector<SweepAxis>{{"c", {"2"}}});
    CHECK(removed == std::vector<Setting>{{"a.b", "4"}});
    CHECK_THROWS_AS(without_set_axes(file, {{"c.x", "4"}}, removed), std::invalid_argument);
  }
}

#include "study/validate.hpp"

#include <doctest/doctest.h>

#include "study/validate_columns.hpp"
#include "study/validate_groups.hpp"
#include "study/validate_rows.hpp"
#include "study/validate_tables.hpp"

namespace gpuscale {

namespace {

RowResult row_of(double time, double time_measured, double speedup, double speedup_measured, int gpus) {
  RowResult row;
  row.source = "a";
  row.family = "conv";
  row.gpus = gpus;
  row.used = true;
  row.time = Seconds(time);
  row.time_measured = Seconds(time_measured);
  row.speedup = speedup;
  row.speedup_measured = speedup_measured;
  return row;
}

RuleValue text_value(std::string text) {
  RuleValue value;
  value.cases.push_back({{}, std::move(text), false});
  return value;
}

RuleValue cases_of(std::vector<std::string> columns, std::vector<RuleCase> cases) {
  return {{}, std::move(columns), std::move(cases)};
}

ValidationRule small_rule() {
  ValidationRule rule;
  rule.name = "small";
  rule.rows = {{{}, "id", {"a-*"}}};
  rule.derive = {
      {"size", cases_of({"gpu", "gpus"},
                        {{{"big", "*"}, "large", false}, {{"*", "1"}, "one", false}, {{"*", "*"}, "rest", false}})}};
  rule.skip = {{{{{}, "notes", {"*odd*"}}}, "odd"}};
  rule.set = {{"cluster.gpus", text_value("{gpus}")},
              {"cluster.gpu", cases_of({"gpu"}, {{{"big"}, "v100", false}, {{"none"}, std::nullopt, false}})},
              {"strategy.exchange", cases_of({"size"}, {{{"*"}, "{overlap: false}", true}})}};
  rule.measured.kind = text_value("throughput");
  rule.alone = AloneRule{{}, {"gpu"}, ""};
  return rule;
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("errors of a group follow their formulas") {
    RowResult unused;
    unused.source = "a";
    const std::vector<RowResult> rows = {row_of(1.1, 1.0, 2.0, 1.6, 2), row_of(0.7, 1.0, 3.0, 4.0, 4), unused};
    const std::vector<GroupResult> groups = groups_of(rows);
    REQUIRE(groups.size() == 2);
    const GroupResult& source = groups[0];
    CHECK(source.rows == 3);
    CHECK(source.used == 2);
    CHECK(*source.time_mape == doctest::Approx(20.0).epsilon(1e-12));             // (10 + 30) / 2
    CHECK(*source.bias == doctest::Approx(-10.0).epsilon(1e-12));                 // (10 - 30) / 2
    CHECK(*source.ratio_mape == doctest::Approx(25.0).epsilon(1e-12));            // (25 + 25) / 2
    CHECK(*source.efficiency_mae == doctest::Approx(0.225).epsilon(1e-12));       // (0.2 + 0.25) / 2
    CHECK(*source.linear_efficiency_mae == doctest::Approx(0.1).epsilon(1e-12));  // (0.2 + 0) / 2
    CHECK(groups[1].by == "family");
    CHECK(groups[1].rows == 2);
  }

  TEST_CASE("what no row has is absent from its group") {
    RowResult row;
    row.source = "a";
    row.used = true;
    const GroupResult group = groups_of(std::vector<RowResult>{row}).front();
    CHECK_FALSE(group.time_mape.has_value());
    CHECK_FALSE(group.efficiency_mae.has_value());
  }

  TEST_CASE("the order of strategies is Kendall's tau over rows of one job") {
    std::vector<RowResult> rows = {row_of(1, 1, 1, 1, 1), row_of(2, 3, 1, 1, 1), row_of(3, 2, 1, 1, 1),
                                   row_of(9, 1, 1, 1, 1)};
    for (std::size_t i = 0; i < 3; ++i) rows[i].ranked_key = "job";
    rows[3].ranked_key = "another job";
    const std::vector<GroupResult> groups = groups_of(rows);
    CHECK(*groups.front().kendall_tau == doctest::Approx(1.0 / 3).epsilon(1e-12));  // two pairs in order, one not
    CHECK(worst_orders(groups, 5).size() == 1);                                     // a row alone has no order
    CHECK(not_by_order(groups).size() + 2 == groups.size());
  }

  TEST_CASE("errors of memory are put together as those of time are") {
    RowResult row;
    row.source = "a";
    row.used = true;
    row.memory = 80.0;
    row.memory_measured = 100.0;
    CHECK(*groups_of(std::vector<RowResult>{row}).front().memory_mape == doctest::Approx(20.0).epsilon(1e-12));
    CHECK(worst_memories(std::vector<RowResult>{row}, 3).size() == 1);
  }

  TEST_CASE("a value may be cut out of a cell and columns stand in the texts of a map") {
    ValidationRule rule = small_rule();
    RuleValue cut;
    cut.columns = {"notes"};
    cut.between = {"memory ", " GiB"};
    rule.derive = {{"memory", cut}};
    rule.set = {{"strategy", cases_of({}, {{{}, "{tensor: '{gpus}'}", true}})}};
    rule.measured.column = "memory";
    rule.measured.kind = text_value("peak_memory");
    const CsvTable table = parse_csv(
        "id,gpu,gpus,value,notes\na-1,big,2,10,peak memory 12.5 GiB here\na-2,big,2,10,memory unknown\n", "t.csv");
    const std::vector<MeasuredRow> rows = measured_rows(rule, table);
    CHECK(rows[0].value == 12.5);
    CHECK(rows[0].settings == std::vector<Setting>{{"strategy", "{tensor: '2'}"}});
    CHECK(rows[1].reason == "no memory");
  }

  TEST_CASE("the median is the middle") {
    CHECK_FALSE(median({}).has_value());
    CHECK(*median({3, 1, 2}) == 2);
    CHECK(*median({4, 1, 2, 3}) == 2.5);
  }

  TEST_CASE("a rule turns cells into settings and leaves rows out for a reason") {
    const CsvTable table = parse_csv(
        "id,gpu,gpus,value,notes\na-1,big,2,10,\na-2,small,2,10,\na-3,big,2,,\na-4,none,1,7,odd one\nb-5,big,1,1,\n",
        "t.csv");
    const std::vector<MeasuredRow> rows = measured_rows(small_rule(), table);
    REQUIRE(rows.size() == 4);
    CHECK(rows[0].reason.empty());
    CHECK(rows[0].settings == std::vector<Setting>{{"cluster.gpus", "2"},
                                                   {"cluster.gpu", "v100"},
                                                   {"strategy.exchange", "{overlap: false}"}});
    CHECK(rows[0].gpus == 2);
    CHECK(rows[0].value == 10);
    CHECK(rows[0].alone_key == rows[2].alone_key);
    CHECK(rows[1].reason == "no case for gpu 'small'");
    CHECK(rows[2].reason == "no value");
    CHECK(rows[3].reason == "odd");
    CHECK(rows[3].settings.size() == 2);
    CHECK(unused_of({}).empty());
  }

  TEST_CASE("a column that nobody has is told with the place of the rule") {
    ValidationRule rule = small_rule();
    rule.set.push_back({"workload.batch", text_value("{batc} per gpu")});
    rule.set.back().value.place = {"r.yaml", 4, 2};
    try {
      static_cast<void>(measured_rows(rule, parse_csv("id,gpu,gpus,value,notes,batch\n", "t.csv")));
      FAIL("accepted");
    } catch (const ScenarioError& error) {
      CHECK(std::string(error.what()) == "r.yaml:4:2: error: t.csv has no column 'batc'; did you mean 'batch'?");
    }
  }

  TEST_CASE("only a name in braces is a column") {
    const auto parts = parts_of("{a: {b}} {c d} {}x");
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].text == "{a: ");
    CHECK(parts[1].is_column);
    CHECK(parts[1].text == "b");
    CHECK(parts[2].text == "} {c d} {}x");
  }
}

}  // namespace gpuscale

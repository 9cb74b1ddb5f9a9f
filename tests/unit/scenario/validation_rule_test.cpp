#include "scenario/validation_rule.hpp"

#include <doctest/doctest.h>
#include <fstream>

namespace gpuscale {

namespace {

namespace fs = std::filesystem;

/// A rule in a file of its own, which is gone afterwards.
class RuleFile {
 public:
  explicit RuleFile(std::string_view text) : path_(fs::temp_directory_path() / "gpuscale-validation-rule-test.yaml") {
    std::ofstream(path_) << text;
  }
  ~RuleFile() { fs::remove(path_); }
  RuleFile(const RuleFile&) = delete;
  RuleFile& operator=(const RuleFile&) = delete;

  [[nodiscard]] ValidationRule read() const { return read_validation_rule(path_, Library({})); }

  /// The problems without the path before line and column.
  [[nodiscard]] std::string problems() const {
    try {
      static_cast<void>(read());
    } catch (const ScenarioError& error) {
      std::string text = error.what();
      const std::string path = path_.string() + ":";
      for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path)) text.erase(at, path.size());
      return text;
    }
    return "none";
  }

 private:
  fs::path path_;
};

constexpr std::string_view kRule = R"(name: mine
data: mine.csv
citation: me
rows: {id: "a-*", gpus: [1, 2]}
skip:
  - {where: {notes: "*SUSPECT*"}, reason: odd}
set:
  workload.batch: "{batch} per gpu"
  workload.precision: {column: [precision, gpu], cases: {"FP16 | *": fp16, "* | V100": ~}}
  strategy.exchange: {overlap: false}
measured: {column: value, is: step_time, unit: ms}
alone: [gpu, batch]
)";

}  // namespace

TEST_SUITE("validation rule") {
  TEST_CASE("a rule holds what its file says") {
    const RuleFile file(kRule);
    const ValidationRule rule = file.read();
    CHECK(rule.name == "mine");
    CHECK(rule.data.filename() == "mine.csv");
    CHECK(rule.data.is_absolute());
    REQUIRE(rule.rows.size() == 2);
    CHECK(rule.rows[1].patterns == std::vector<std::string>{"1", "2"});
    CHECK(rule.skip.front().reason == "odd");
    REQUIRE(rule.set.size() == 3);
    CHECK(*rule.set[0].value.cases.front().text == "{batch} per gpu");
    CHECK(rule.set[1].value.cases[0].patterns == std::vector<std::string>{"FP16", "*"});
    CHECK_FALSE(rule.set[1].value.cases[1].text.has_value());
    CHECK(rule.set[2].value.cases.front().is_yaml);
    CHECK(*rule.set[2].value.cases.front().text == "{overlap: false}");
    CHECK(rule.measured.unit == 1e-3);
    CHECK(rule.alone->same == std::vector<std::string>{"gpu", "batch"});
  }

  TEST_CASE("a rule of memory holds its unit and the job that is a hundred percent") {
    const RuleFile file(R"(name: mine
data: mine.csv
citation: me
derive: {memory: {column: notes, between: ["memory ", " GiB"]}}
set: {workload.model: a}
measured: {column: memory, is: peak_memory, unit: GiB, percent_of: {strategy.recompute: none}}
ranked: [gpu]
)");
    const ValidationRule rule = file.read();
    CHECK(rule.derive.front().value.between == std::vector<std::string>{"memory ", " GiB"});
    CHECK(rule.measured.unit == 1073741824.0);
    CHECK(rule.measured.against.front().name == "strategy.recompute");
    CHECK(rule.ranked == std::vector<std::string>{"gpu"});
  }

  TEST_CASE("every problem of a rule is told with its place") {
    const RuleFile file(R"(name: mine
data: mine.csv
set:
  workload.modle: a
  workload.precision: {column: [precision, gpu], cases: {FP16: fp16}}
measured: {column: value, is: thruput}
class: [a]
colour: red
)");
    CHECK(
        file.problems() ==
        "1:1: error: validation rule has no 'citation'; add a line such as 'citation: who measured it and where it is "
        "published'\n"
        "4:3: error: a scenario has no key 'workload.modle'; did you mean 'workload.model'?\n"
        "5:58: error: the case 'FP16' has 1 patterns for 2 columns; put ' | ' between them\n"
        "6:31: error: 'thruput' is nothing that is measured; write throughput, tokens_per_s, tokens_per_gpu, "
        "step_time, passes_time, time_for_samples, speedup, gain, time, rate, peak_memory or activation_memory\n"
        "7:8: error: 'class' must be a text, not a list\n"
        "8:1: error: unknown key 'colour' in validation rule; it has alone, check, citation, class, data, derive, "
        "exchange, "
        "measured, name, "
        "ranked, rows, set, skip");
  }

  TEST_CASE("an empty rule says what is missing") { CHECK(RuleFile("").problems().find("error") != std::string::npos); }
}

}  // namespace gpuscale

// Large language models split over many GPUs, held against published measurements: errors of time and of memory and
// the order of strategies. A guard is the target of the source, or what the model reached plus a little room.

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <map>
#include <string>

#include "validation/validated.hpp"

namespace gpuscale {

namespace {

const GroupResult& source_of(const Validation& validation) {
  const auto found = std::ranges::find(validation.groups, "source", &GroupResult::by);
  REQUIRE(found != validation.groups.end());
  return *found;
}

struct Guard {
  std::string source;
  double time;           ///< percent
  double tau = -1;       ///< at least
  std::size_t rows = 0;  ///< at least
};

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("steps of large models are as near to the measured ones as promised") {
    const std::vector<Guard> guards = {
        {"vtrain", 15, 0.8, 144},     {"seqsel", 8, 1.0, 8},       {"simumax", 10, 0.8, 43},
        {"megatron2020", 8, 0.8, 12}, {"torchtitan", 12, 0.8, 28}, {"nemo", 12, -1, 21},
        {"neusight", 15, 0.8, 40},    {"mli", 20, 0.8, 13},        {"sailor", 18, -1, 43}};
    for (const Guard& guard : guards) {
      CAPTURE(guard.source);
      const Validation validation = test::printed(guard.source);
      const GroupResult& group = source_of(validation);
      CHECK(group.used >= guard.rows);
      REQUIRE(group.time_mape.has_value());
      CHECK(*group.time_mape <= guard.time);
      if (guard.tau > -1) CHECK(group.kendall_tau.value_or(-1) >= guard.tau);
    }
  }

  TEST_CASE("tensor parallelism on DGX-2 and DGX A100 scales within five points of the published scaling") {
    // Weak scaling in FLOP/s a GPU: with ours and theirs of the same FLOP, ours = theirs x (time ratio of one GPU / of
    // N).
    const Validation validation = test::printed("megatron2020");
    std::map<std::string, double> alone;  // ours / theirs on one GPU, by card
    const auto card = [](const RowResult& row) { return row.what.substr(row.what.rfind(' ') + 1); };
    for (const RowResult& row : validation.rows) {
      if (row.used && row.gpus == 1) alone[card(row)] = *row.time / *row.time_measured;
    }
    const std::map<std::string, double> published = {{"MLM20-0003", 89.6}, {"MLM20-0004", 91.7}, {"MLM20-0005", 82.5},
                                                     {"MLM20-0006", 84.5}, {"MLM20-0007", 74.3}, {"MLM20-0008", 74.7}};
    for (const RowResult& row : validation.rows) {
      const auto scaling = published.find(row.id);
      if (scaling == published.end()) continue;
      CAPTURE(row.id);
      const double ours = scaling->second * alone.at(card(row)) / (*row.time / *row.time_measured);
      CHECK(std::abs(ours - scaling->second) <= 5.0);
    }
  }

  TEST_CASE("memory of large models is as near to the measured one as promised") {
    const std::map<std::string, double> guards = {
        {"seqsel-memory", 5}, {"simumax-memory", 10}, {"torchtitan-memory", 10}};
    for (const auto& [source, most] : guards) {
      CAPTURE(source);
      const Validation validation = test::printed(source);
      REQUIRE(source_of(validation).memory_mape.has_value());
      CHECK(*source_of(validation).memory_mape <= most);
    }
  }
}

}  // namespace gpuscale

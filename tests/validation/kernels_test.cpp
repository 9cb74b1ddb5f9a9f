// Measured times of single kernels beside the model: class by class.
// A guard is what was reached plus a little room: lower it when the model gets better.

#include <doctest/doctest.h>
#include <map>
#include <string>

#include "validation/validated.hpp"

namespace gpuscale {

TEST_SUITE("validation") {
  TEST_CASE("kernel times are as near to measurements as they were and far nearer than a roofline") {
    const Validation validation = test::printed("kernels");
    const std::map<std::string, double> most = {
        {"kernel/gemm-fp32", 18.5},    {"kernel/gemm-16bit", 10.5},         {"kernel/gemm-8bit", 13.0},
        {"kernel/conv-forward", 19.0}, {"kernel/conv-backward-data", 21.5}, {"kernel/conv-backward-weights", 24.5},
        {"kernel/recurrent", 22.0},    {"kernel/attention", 8.5},
    };
    std::size_t seen = 0;
    for (const GroupResult& group : validation.groups) {
      const auto found = most.find(group.name);
      if (group.by != "class" || found == most.end()) continue;
      ++seen;
      CAPTURE(group.name);
      REQUIRE(group.time_mape.has_value());
      REQUIRE(group.baseline_mape.has_value());
      CHECK(*group.time_mape <= found->second);
      CHECK(*group.time_mape < 0.6 * *group.baseline_mape);
    }
    CHECK(seen == most.size());
  }
}

}  // namespace gpuscale

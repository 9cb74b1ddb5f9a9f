#include "report/assertion.hpp"

#include <doctest/doctest.h>
#include <stdexcept>
#include <string>

#include "sample_report.hpp"

using namespace gpuscale;

namespace {

bool holds(const std::string& condition) { return violation(read_assertion(condition), test::sample_report()).empty(); }

std::string refusal(const std::string& condition) {
  try {
    static_cast<void>(read_assertion(condition));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_SUITE("report") {
  TEST_CASE("conditions compare the values of a report") {
    for (const char* condition :
         {"speedup >= 3", "speedup==3", "speedup < 3.1", "speedup!=2", "gpus > 3", "gpus <= 4", "efficiency >= 75 %",
          "step_time_s == 250 ms", "step_time_s < 0.3", "split.compute_s > 187 ms", "compute_s > 187 ms",
          "memory.total == 4 GiB", "memory_total_bytes <= 4294967296", "memory.fits == true", "fits != false",
          "exchanged_bytes_per_gpu == 1 MiB", "  throughput_samples_per_s  >=  1e3 "}) {
      CAPTURE(condition);
      CHECK(holds(condition));
    }
    for (const char* condition : {"speedup >= 3.4", "speedup != 3", "fits == false", "step_time_s > 250 ms"}) {
      CAPTURE(condition);
      CHECK_FALSE(holds(condition));
    }
  }

  TEST_CASE("a violation names the condition and the value") {
    CHECK(violation(read_assertion("speedup >= 3.4"), test::sample_report()) ==
          "'speedup >= 3.4' does not hold: speedup is 3");
  }

  TEST_CASE("a condition on a value that is not there is violated") {
    CHECK(violation(read_assertion("throughput_tokens_per_s != 3"), test::sample_report()) ==
          "'throughput_tokens_per_s != 3' does not hold: throughput_tokens_per_s has no value here");
  }

  TEST_CASE("what is no condition is refused with a way out") {
    CHECK(refusal("speedpu > 3").find("did you mean 'speedup'?") != std::string::npos);
    CHECK(refusal("speedup").find("write it as 'speedup >= 3.4'") != std::string::npos);
    CHECK(refusal("speedup = 3").find("write it as") != std::string::npos);
    CHECK(refusal("speedup >= fast").find("is not a number") != std::string::npos);
    CHECK(refusal("limited_by == 3").find("is a text") != std::string::npos);
    CHECK(refusal("step_time_s < 3 GB") != "");
    CHECK(refusal("speedup >= nan") != "");
    CHECK(refusal("") != "");
  }
}

#include "report/uncertainty.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace gpuscale {

namespace {

struct KindOfCase {
  std::string_view family;
  Uncertainty range;
};

// From measured / simulated step times of the rows that `gpuscale validate --format json` uses, November 2026: the
// first and the last tenth are cut off on each side. Families with fewer than fifty rows take those of all rows.
constexpr std::array<KindOfCase, 2> kMeasured = {{{"conv", {0.18, 0.37}}, {"transformer", {0.07, 0.44}}}};
constexpr Uncertainty kAllRows{0.15, 0.40};
// A calibrated job has only the error of its speed-up: the same tenths of 964 rows on several GPUs.
constexpr Uncertainty kCalibrated{0.11, 0.31};
// Transfers of arXiv:1511.04561, worst of 14.
constexpr Uncertainty kTransfer{0.10, 0.10};

}  // namespace

Uncertainty uncertainty(const Job& job) {
  if (job.transfer) return kTransfer;
  if (job.calibrated_throughput) return kCalibrated;
  const auto* const found = std::ranges::find(kMeasured, job.model.family, &KindOfCase::family);
  return found == kMeasured.end() ? kAllRows : found->range;
}

}  // namespace gpuscale

#include "report/uncertainty.hpp"

namespace gpuscale {

Uncertainty uncertainty(const Job& job) {
  if (job.transfer) return {0.10, 0.10};
  if (job.calibrated_throughput) return {0.05, 0.10};
  return {0.20, 0.25};
}

}  // namespace gpuscale

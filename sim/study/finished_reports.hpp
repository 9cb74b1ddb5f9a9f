#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "report/report.hpp"

namespace gpuscale {

/// Reports as they come, each at its own place, for a caller that may want those there are before the
/// rest is finished. Safe from several threads.
class FinishedReports {
 public:
  /// Makes `count` empty places.
  void start(std::size_t count) {
    const std::scoped_lock lock(mutex_);
    reports_ = std::vector<std::optional<Report>>(count);
  }

  /// Does nothing once the reports have been taken.
  void put(std::size_t place, Report report) {
    const std::scoped_lock lock(mutex_);
    if (place < reports_.size()) reports_[place] = std::move(report);
  }

  /// All places in order, empty where nothing is finished. They are gone afterwards.
  std::vector<std::optional<Report>> take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(reports_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::optional<Report>> reports_;
};

}  // namespace gpuscale

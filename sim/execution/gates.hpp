#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "plan/plan.hpp"
#include "units/id.hpp"

namespace gpuscale {

/// The gates of a plan while it runs: how much credit each has left, and who waits there.
class Gates {
 public:
  explicit Gates(const Plan& plan);

  /// A task that enters is ready. True if it may begin now.
  bool enqueue(TaskId id);
  /// A task at a gate ends. \returns those that may enter now, in order
  std::vector<TaskId> finish(TaskId id);

 private:
  struct Gate {
    double credit = 0.0;
    std::set<std::tuple<int, std::uint64_t, TaskId>> waiting = {};  ///< by urgency, then as they came
  };

  const Plan& plan_;
  std::vector<Gate> gates_ = {};
  std::uint64_t arrivals_ = 0;
};

}  // namespace gpuscale

#pragma once

#include <chrono>
#include <cstddef>

namespace gpuscale::tool {

/// A bar with the time left on stderr, drawn over itself and gone at the end. Draws nothing if not enabled.
class Progress {
 public:
  explicit Progress(bool enabled) : enabled_(enabled) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Not from two threads at once.
  void update(std::size_t done, std::size_t total);

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  bool visible_ = false;
  std::size_t done_at_start_ = 0;
  Clock::time_point start_;  ///< of the first update: what came before it took another time
  Clock::time_point drawn_;
};

}  // namespace gpuscale::tool

#pragma once

#include <chrono>
#include <cstddef>

namespace gpuscale::tool {

/// A bar with the time left on stderr, drawn over itself and gone at the end. Draws nothing if not enabled.
class Progress {
 public:
  explicit Progress(bool enabled) : enabled_(enabled), start_(Clock::now()), drawn_(start_) {}
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Not from two threads at once.
  void update(std::size_t done, std::size_t total);

 private:
  using Clock = std::chrono::steady_clock;

  bool enabled_;
  bool visible_ = false;
  Clock::time_point start_;
  Clock::time_point drawn_;
};

}  // namespace gpuscale::tool

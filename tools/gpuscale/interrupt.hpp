#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace gpuscale::tool {

/// While it lives, the first SIGINT or SIGTERM sets a flag, so that nothing new is started, and a second
/// one does not wait for what is running: a thread says the last words and ends the program with kInterrupted.
class InterruptWatch {
 public:
  /// `last_words` is called at most once, while other threads go on, and not after the end of this object.
  explicit InterruptWatch(std::function<void()> last_words, bool quiet = false);

  /// From here on a signal ends the program as usual.
  ~InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;

  [[nodiscard]] const std::atomic<bool>& flag() const;

 private:
  void wait_for_signals();

  std::function<void()> last_words_;
  bool quiet_;
  std::mutex mutex_;
  std::condition_variable ended_early_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace gpuscale::tool

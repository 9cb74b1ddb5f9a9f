#include "study/parallel_for.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace gpuscale {

namespace {

/// What the threads share.
class Loop {
 public:
  Loop(std::size_t count, const std::atomic<bool>* stop, const std::function<void(std::size_t)>& work)
      : count_(count), stop_(stop), work_(work) {}

  void run() {
    while (!stopped()) {
      const std::size_t i = next_.fetch_add(1);
      if (i >= count_) return;
      try {
        work_(i);
      } catch (...) {
        note_failure(i);
      }
    }
  }

  void rethrow_first() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  [[nodiscard]] bool stopped() const { return failed_.load() || (stop_ != nullptr && stop_->load()); }

  void note_failure(std::size_t i) {
    const std::scoped_lock lock(mutex_);
    if (!error_ || i < failed_at_) {
      error_ = std::current_exception();
      failed_at_ = i;
    }
    failed_ = true;
  }

  std::size_t count_;
  const std::atomic<bool>* stop_;
  const std::function<void(std::size_t)>& work_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr error_;
  std::size_t failed_at_ = 0;
};

}  // namespace

void parallel_for(std::size_t count, int jobs, const std::atomic<bool>* stop,
                  const std::function<void(std::size_t)>& work) {
  Loop loop(count, stop, work);
  {
    std::vector<std::jthread> helpers;
    const std::size_t threads = std::min(count, static_cast<std::size_t>(std::max(jobs, 1)));
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back([&loop] { loop.run(); });
    loop.run();
  }
  loop.rethrow_first();
}

}  // namespace gpuscale

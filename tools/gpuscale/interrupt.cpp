#include "interrupt.hpp"

#include <chrono>
#include <csignal>
#include <exception>
#include <unistd.h>
#include <utility>

#include "exit_code.hpp"
#include "output.hpp"

namespace gpuscale::tool {

namespace {

std::atomic<bool> interrupted = false;  // a handler can reach nothing else
std::atomic<int> signals = 0;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

extern "C" void note_interrupt(int) {
  interrupted = true;
  ++signals;
}

void on_interrupt(void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

InterruptWatch::InterruptWatch(std::function<void()> last_words, bool quiet)
    : last_words_(std::move(last_words)), quiet_(quiet) {
  on_interrupt(&note_interrupt, 0);
  thread_ = std::thread([this] { wait_for_signals(); });
}

InterruptWatch::~InterruptWatch() {
  {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
  }
  ended_early_.notify_all();
  thread_.join();  // does not come back from last words, which end the program
  on_interrupt(SIG_DFL, 0);
}

const std::atomic<bool>& InterruptWatch::flag() const { return interrupted; }

void InterruptWatch::wait_for_signals() {
  constexpr std::chrono::milliseconds kPause(50);
  bool told = quiet_;
  std::unique_lock lock(mutex_);
  while (signals < 2) {
    if (ended_early_.wait_for(lock, kPause, [&] { return ended_; })) return;
    if (signals == 0 || told) continue;
    say("stopping when what is running has finished; once more stops at once");
    told = true;
  }
  on_interrupt(SIG_DFL, 0);  // a third one does not even wait for the words
  try {
    last_words_();
  } catch (const std::exception& error) {
    say(error.what());
  }
  ::_exit(kInterrupted);  // threads are running, so nothing may be taken down
}

}  // namespace gpuscale::tool

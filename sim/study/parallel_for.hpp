#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace gpuscale {

/// Calls `work(i)` for i = 0 .. count-1 on `jobs` threads, starting in that order; no further call starts
/// once `stop` is true. An exception of any type stops too; the one with the lowest i is thrown here after all threads
/// have ended, which makes it the same one for any number of threads.
void parallel_for(std::size_t count, int jobs, const std::atomic<bool>* stop,
                  const std::function<void(std::size_t)>& work);

}  // namespace gpuscale

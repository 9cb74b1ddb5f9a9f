#pragma once

#include <atomic>

namespace gpuscale::tool {

/// From here on the first SIGINT or SIGTERM only sets the flag; a second one ends the program.
const std::atomic<bool>& watch_interrupts();

}  // namespace gpuscale::tool

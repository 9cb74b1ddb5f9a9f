#pragma once

#include <stdexcept>
#include <string>

namespace gpuscale {

/// States what must hold in our own code. Input never reaches one: what a user can get wrong is a
/// Problem (diagnostic.hpp).
/// \throws std::logic_error if it does not hold.
inline void check(bool condition, const char* what_must_hold) {
  if (!condition) throw std::logic_error(std::string("internal error: ") + what_must_hold);
}

}  // namespace gpuscale

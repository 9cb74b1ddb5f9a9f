#pragma once

/// \file
/// What the program tells its caller besides the result.

namespace gpuscale::tool {

inline constexpr int kDone = 0;
inline constexpr int kUnexpected = 1;     ///< a fault of ours or of the machine
inline constexpr int kUsage = 2;          ///< the command line
inline constexpr int kBadInput = 3;       ///< a scenario or data file
inline constexpr int kDoesNotFit = 4;     ///< the job needs more memory than its GPUs have
inline constexpr int kAssertFailed = 5;   ///< a condition given with --assert
inline constexpr int kInterrupted = 130;  ///< stopped by a signal; what was finished is printed

}  // namespace gpuscale::tool

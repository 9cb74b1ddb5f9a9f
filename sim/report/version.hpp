#pragma once

#include <string_view>

namespace gpuscale {

/// Of the program; CMakeLists.txt says the same.
inline constexpr std::string_view kProgramVersion = "0.1.0";

/// Of the JSON document; rises when a key changes its meaning or goes away, not when one is added.
inline constexpr int kSchemaVersion = 1;

}  // namespace gpuscale

#pragma once

#include <string_view>

namespace gpuscale {

/// Whether a text matches a pattern as a whole: `*` stands for any text, also none, every other
/// character for itself. Linear in practice; never worse than the product of both lengths.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace gpuscale

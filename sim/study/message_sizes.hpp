#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "units/quantity.hpp"

namespace gpuscale {

/// Reads message sizes: "8", "1K", "64 MiB", "8..1G", or several with commas between. A bare number is
/// bytes and K M G are powers of 1024, as in nccl-tests; with a B they are what they are everywhere else (MB is 10^6,
/// MiB 2^20). A range goes from its first size up by `factor` as long as it is not above its last.
/// \throws std::invalid_argument with a text for the user
std::vector<Bytes> read_message_sizes(std::string_view text, double factor);

/// Reads numbers below `count`: "0,2,4-7". \throws std::invalid_argument with a text for the user
std::vector<std::size_t> read_ranks(std::string_view text, std::size_t count);

}  // namespace gpuscale

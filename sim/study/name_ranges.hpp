#pragma once

#include <span>
#include <string>

namespace gpuscale {

/// Names in few words: "gpu0-3, gpu6", "node0-7.gpu0" for "node0.gpu0" to "node7.gpu0". Names that follow
/// each other and differ by one in one number are a range; after a few ranges the rest is only counted.
std::string name_ranges(std::span<const std::string> names);

}  // namespace gpuscale

#pragma once

/// \file
/// What the text forms of a report say in words.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "report/report.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

/// A cause that fills memory and what it is called.
struct MemoryPart {
  std::string_view name;
  Bytes Footprint::*size;
};

inline constexpr std::array<MemoryPart, 9> kMemoryParts = {{{"parameters", &Footprint::parameters},
                                                            {"master weights", &Footprint::master_weights},
                                                            {"gradients", &Footprint::gradients},
                                                            {"optimizer", &Footprint::optimizer},
                                                            {"activations", &Footprint::activations},
                                                            {"errors", &Footprint::errors},
                                                            {"workspace", &Footprint::workspace},
                                                            {"exchange", &Footprint::exchange},
                                                            {"framework", &Footprint::framework}}};

struct Fact {
  std::string_view name;
  std::string text;
};

/// What is trained, on what, how.
std::vector<Fact> what_runs(const Report& report);

/// Step time, throughput, scaling, utilisation, bytes sent: those that have a meaning.
std::vector<Fact> headline(const Report& report);

/// Samples of a step on each GPU of a kind: "46", or "45 to 46".
std::string batch_text(const CardReport& card);

/// What a GPU needs and has of memory, told apart.
TwoTexts memory_texts(const Report& report);

/// "up to 152 samples per GPU".
std::string largest_batch_text(const Report& report);

}  // namespace gpuscale

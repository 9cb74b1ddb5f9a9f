#pragma once

#include <string>

#include "parallel/build_plan.hpp"

namespace gpuscale {

/// How the job is split, in words: "tensor parallel over 8; 1F1B pipeline of 4 stages, 16 microbatches; data parallel
/// over 2: ring, 25 MiB buckets, overlapped with backward".
std::string strategy_in_words(const Job& job, const PlannedStep& step);

}  // namespace gpuscale

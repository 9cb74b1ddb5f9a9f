#pragma once

/// \file
/// The tables of a fit as columns of text. Internal to its writers.

#include <span>
#include <string>
#include <vector>

#include "report/columns.hpp"
#include "study/fit.hpp"

namespace gpuscale {

/// Cause, size, part of the card's memory and, where `room` is above 0, a bar of at most that length. The last rows are
/// the sum and what is free.
std::vector<TextColumn> cause_columns(const Report& report, std::size_t room);

/// One row a pipeline stage: causes that any of them has, their sum, part of the card's memory. No rows if there is
/// one.
std::vector<TextColumn> stage_columns(const Report& report);

/// Change, memory with it, what it saves, whether the job fits, largest batch, throughput relative to the job as asked.
std::vector<TextColumn> change_columns(const Fit& fit);

/// One row a job: what tells it from the others, memory, largest batch, what would make it fit.
std::vector<TextColumn> fit_columns(std::span<const Fit> fits);

/// "fits: 4.34 GiB free, up to 121 samples per GPU (64 asked)".
std::string verdict(const Report& report);

/// "--set workload.batch='32 per gpu'", as a shell takes it.
std::string as_options(const std::vector<Setting>& settings);

}  // namespace gpuscale

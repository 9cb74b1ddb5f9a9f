#pragma once

#include <string>
#include <vector>

#include "parallel/job.hpp"
#include "report/report.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// What holds the step back, in one sentence, from its split and its busiest link.
std::string limit_in_words(const Report& report);

/// What this run leaves out that such a job has in reality.
std::vector<std::string> not_modelled(const Job& job, const ClusterSpec& spec);

}  // namespace gpuscale

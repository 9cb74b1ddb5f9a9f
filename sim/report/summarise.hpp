#pragma once

#include "execution/timeline.hpp"
#include "parallel/build_plan.hpp"
#include "parallel/job.hpp"
#include "report/report.hpp"
#include "topology/cluster.hpp"

namespace gpuscale {

/// What a run means: times, rates, memory, the limiting thing. Names of scenario, settings, speed-up
/// and provenance are the caller's to add.
Report summarise(const Job& job, const ClusterSpec& spec, const Cluster& cluster, const PlannedStep& step,
                 const Timeline& timeline);

}  // namespace gpuscale

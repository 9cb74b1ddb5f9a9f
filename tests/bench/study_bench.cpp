// Whole simulations: resolve, plan, execute, report. Points per second of a sweep, and what a point of each
// size costs.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>

#include "scenario/scenario.hpp"
#include "study/simulate.hpp"

namespace {

using namespace gpuscale;

void simulate_quickstart(benchmark::State& state) {
  const std::filesystem::path source = GPUSCALE_SOURCE_DIR;
  const Library library({source});
  const ScenarioFile file = ScenarioFile::open(source / "workloads/scenarios/quickstart.yaml");
  const std::vector<Setting> settings = {{"cluster.gpus", std::to_string(state.range(0))}};
  for (auto _ : state) benchmark::DoNotOptimize(simulate(file.resolve(library, settings)).step_time);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(simulate_quickstart)->Arg(1)->Arg(2)->Arg(4)->Unit(benchmark::kMillisecond);

}  // namespace

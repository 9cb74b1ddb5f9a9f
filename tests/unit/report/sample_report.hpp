#pragma once

#include "report/report.hpp"

namespace gpuscale::test {

/// Round numbers throughout, so that expected texts can be worked out by eye.
inline Report sample_report(int gpus = 4) {
  Report report;
  report.scenario = "Sample";
  report.settings = {{"cluster.gpus", std::to_string(gpus)}, {"strategy.exchange.codec", "int8"}};
  report.model = "Net";
  report.gpu = "Card";
  report.machine = "Box";
  report.framework = "Framework";
  report.strategy = "data parallel";
  report.gpus = gpus;
  report.batch_per_gpu = 64;
  report.global_batch = 64.0 * gpus;
  report.step_time = Seconds(0.25);
  report.step_time_low = Seconds(0.2);
  report.step_time_high = Seconds(0.5);
  report.throughput = 256.0 * gpus;
  report.speedup = 0.75 * gpus;
  report.efficiency = 0.75;
  report.baseline = "one GPU";
  report.split = {.compute = Seconds(0.1875),
                  .host = {},
                  .exchange_exposed = Seconds(0.0625),
                  .bubble = {},
                  .input = {},
                  .jitter = {}};
  report.exchanged_per_gpu = Bytes(1048576);
  report.exchange_uncompressed_per_gpu = Bytes(4194304);
  report.links = {{"gpu0 -> cpu0", Bytes(1048576), 0.5}};
  report.memory.footprint.parameters = Bytes(1073741824);
  report.memory.footprint.activations = Bytes(3221225472);
  report.memory.capacity = Bytes(8589934592);
  report.memory.largest_batch_per_gpu = 149;
  report.limited_by = "GPU compute: 75 % of the step";
  report.not_modelled = {"weather"};
  report.provenance = {"net.yaml: a book"};
  return report;
}

}  // namespace gpuscale::test

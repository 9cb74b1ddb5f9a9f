// Which way an answer must move when a large model is split in another way.

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "study/simulate.hpp"

using namespace gpuscale;

namespace {

Report run(const std::string& workload, const std::string& cluster, const std::string& strategy,
           const std::string& framework = "megatron-lm-2022") {
  static const Library library({GPUSCALE_SOURCE_DIR});
  const ScenarioFile file = ScenarioFile::parse("{workload: " + workload + ", cluster: " + cluster +
                                                    ", strategy: " + strategy + ", framework: " + framework + "}",
                                                "test.yaml");
  return simulate_step(file.resolve(library, {}));
}

std::string net(int layers, const std::string& batch, int tokens = 1024, const std::string& more = "") {
  return "{model: {name: net, family: transformer, source: none, input: {tokens: " + std::to_string(tokens) +
         "}, transformer: {layers: " + std::to_string(layers) +
         ", hidden: 2048, heads: 16, ffn: 8192, vocabulary: 1024, positions: none, dropout: false" + more +
         "}}, batch: " + batch + " global, precision: bf16, optimizer: adam}";
}

constexpr const char* kBox = "{machine: dgx-a100, gpu: a100-sxm-80gb, gpus: 8}";
constexpr const char* kFour = "{machine: dgx-a100, gpu: a100-sxm-80gb, gpus: 4}";
constexpr const char* kOne = "{machine: dgx-a100, gpu: a100-sxm-80gb, gpus: 1}";
constexpr const char* kBoxes = "{machine: dgx-a100, gpu: a100-sxm-80gb, gpus: 32, nodes: 4, fabric: hdr-infiniband}";
constexpr const char* kEthernet = "{machine: dgx-a100, gpu: a100-sxm-80gb, gpus: 32, nodes: 4, fabric: ethernet-10g}";

double seconds(const Report& report) { return report.step_time.count(); }

const ExchangeReport& exchange(const Report& report, const std::string& purpose) {
  for (const ExchangeReport& entry : report.exchanges) {
    if (entry.purpose == purpose) return entry;
  }
  FAIL("no exchange for ", purpose);
  return report.exchanges.front();
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("sharding over all copies on slow Ethernet loses to sharding within boxes") {
    const std::string job = net(16, "64");
    // Between boxes 3 x 2 bytes a parameter against the share of a GPU summed, 2 x 2 (with sums in fp32 both are 8).
    const Report all = run(job, kEthernet, "{zero: 3}", "deepspeed");
    const Report node = run(job, kEthernet, "{zero: 3, shard_group: node}", "deepspeed");
    CHECK(seconds(all) > 1.2 * seconds(node));
    CHECK(all.memory.footprint.total() < node.memory.footprint.total());
  }

  TEST_CASE("a pipeline with one microbatch takes the time of one GPU and its sends") {
    const double alone = run(net(8, "4"), kOne, "{}").passes_time.count();
    const Report split = run(net(8, "4"), kFour, "{pipeline: {stages: 4, microbatches: 1}}");
    CHECK(split.passes_time.count() >= 0.99 * alone);
    CHECK(split.passes_time.count() - exchange(split, "pipeline").exposed.count() <= 1.02 * alone);
  }

  TEST_CASE("tensor parallelism across boxes collapses") {
    const std::string job = net(8, "64");
    const double within = seconds(run(job, kEthernet, "{tensor: 8}"));
    const double across = seconds(run(job, kEthernet, "{tensor: 16}"));
    CHECK(across > 1.5 * within);
  }

  TEST_CASE("interleaving makes the bubble smaller and so does zero bubble") {
    const std::string job = net(16, "32");
    const auto bubble = [&](const std::string& schedule) {
      const Report report =
          run(job, kFour, "{pipeline: {stages: 4, micro_batch: 4, schedule: " + schedule + "}}", "megatron-core");
      return report.split.bubble / report.step_time;
    };
    CHECK(bubble("interleaved") < 0.7 * bubble("1f1b"));
    CHECK(bubble("zero_bubble") < 0.85 * bubble("1f1b"));
  }

  TEST_CASE("the bubble of GPipe is that of the textbook") {
    // (stages - 1) / microbatches of the work of a stage (arXiv:1811.06965), all stages alike but for the small output.
    for (const int microbatches : {4, 8, 16}) {
      CAPTURE(microbatches);
      const std::string batch = std::to_string(4 * microbatches);
      const Report report = run(net(16, batch), kFour, "{pipeline: {stages: 4, micro_batch: 4, schedule: gpipe}}");
      CHECK(report.split.bubble / report.split.compute == doctest::Approx(3.0 / microbatches).epsilon(0.1));
    }
  }

  TEST_CASE("sequence parallelism saves memory at nearly the same time") {
    const Report plain = run(net(8, "8"), kBox, "{tensor: 8}");
    const Report divided = run(net(8, "8"), kBox, "{tensor: {degree: 8, sequence_parallel: true}}");
    CHECK(divided.memory.footprint.activations < 0.8 * plain.memory.footprint.activations);
    CHECK(seconds(divided) == doctest::Approx(seconds(plain)).epsilon(0.1));
  }

  TEST_CASE("full recompute costs a forward pass and selective recompute less") {
    const std::string job = net(16, "8", 2048);
    const Report none = run(job, kOne, "{}");
    const Report selective = run(job, kOne, "{recompute: selective}");
    const Report full = run(job, kOne, "{recompute: full}");
    CHECK(full.split.compute / none.split.compute == doctest::Approx(4.0 / 3.0).epsilon(0.05));
    CHECK(selective.split.compute < full.split.compute);
    CHECK(selective.memory.footprint.activations < none.memory.footprint.activations);
    CHECK(full.memory.footprint.activations < selective.memory.footprint.activations);
    const Report alternate = run(job, kOne, "{recompute: alternate}");
    CHECK(alternate.split.compute < full.split.compute);
    CHECK(alternate.split.compute > none.split.compute);
  }

  TEST_CASE("what is sent for tensor parallelism is what the paper says") {
    // Four all-reduces of batch x tokens x width a block, forward and backward together (arXiv:1909.08053, section 3),
    // and those of the divided embedding and output.
    const double tensor = 8.0 * 1024 * 2048 * 2;
    const double of_blocks = 4.0 * 8 * 2.0 * 7 / 8 * tensor;
    const Report report = run(net(8, "8"), kBox, "{tensor: 8}");
    CHECK(exchange(report, "tensor").sent.count() >= of_blocks);
    CHECK(exchange(report, "tensor").sent.count() <= of_blocks * 1.1);
    // A stage hands on and gets back one such tensor a microbatch.
    const Report pipeline = run(net(8, "8"), kFour, "{pipeline: {stages: 4, microbatches: 8}}");
    CHECK(exchange(pipeline, "pipeline").sent.count() == doctest::Approx(2 * tensor));
  }

  TEST_CASE("sharding parameters sends half as much again as summing gradients in the same precision") {
    // arXiv:1910.02054, section 7: 3 psi for stage 3 against 2 psi, in numbers of one size.
    const std::string job = net(8, "8");
    const auto sent = [&](const std::string& strategy) {
      double bytes = 0;
      for (const ExchangeReport& entry : run(job, kBox, strategy, "deepspeed").exchanges) bytes += entry.sent.count();
      return bytes;
    };
    CHECK(sent("{zero: 3}") / sent("{zero: 0}") == doctest::Approx(1.5).epsilon(0.02));
    CHECK(sent("{zero: 1}") / sent("{zero: 0}") == doctest::Approx(1.0).epsilon(0.02));
  }

  TEST_CASE("a step of small layers takes as long as the host needs to run through them") {
    // Per block and microbatch 1.15 ms forward, the same computed again and 0.9 ms backward beside the operators.
    const Report report =
        run(net(12, "16", 128), kOne, "{pipeline: {micro_batch: 1}, recompute: full}", "megatron-deepspeed-eager");
    CHECK(seconds(report) >= 12 * 16 * 3.2e-3);
    CHECK(seconds(report) <= 12 * 16 * 4.5e-3);
  }

  TEST_CASE("experts that are visited unevenly slow the step") {
    const std::string job = net(4, "8", 1024, ", experts: {count: 8, active: 2}");
    const double even = seconds(run(job, kBox, "{expert: 8}"));
    const double uneven = seconds(run(job, kBox, "{expert: {degree: 8, imbalance: 2}}"));
    CHECK(uneven > 1.1 * even);
  }

  TEST_CASE("ring attention over boxes hides its exchange at long sequences and not at short ones") {
    // Bytes grow with the sequence, products with its square: they meet at some 200,000 tokens on this network.
    const auto exposed = [&](int tokens) {
      const Report report = run(net(4, "1", tokens), kBoxes, "{context: 32}", "megatron-core");
      return exchange(report, "context").exposed / report.step_time;
    };
    CHECK(exposed(16384) > 0.02);
    CHECK(exposed(1048576) < 0.005);
  }

  TEST_CASE("a causal sequence in consecutive parts makes the last rank work nearly twice as long") {
    const std::string job = net(4, "1", 131072);
    const double balanced = seconds(run(job, kBox, "{context: 8}", "megatron-core"));
    const double last = seconds(run(job, kBox, "{context: {degree: 8, balanced: false}}", "megatron-core"));
    CHECK(last > 1.3 * balanced);
    CHECK(last < 2.0 * balanced);
  }
}

// Which way an answer must move when gradients are compressed, and when jobs share or do not share a step.

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "scenario/scenario.hpp"
#include "study/simulate.hpp"

using namespace gpuscale;

namespace {

using Settings = std::vector<Setting>;

Report run(const std::string& workload, const std::string& cluster, const std::string& framework,
           const Settings& settings = {}) {
  static const Library library({GPUSCALE_SOURCE_DIR});
  const ScenarioFile file = ScenarioFile::parse(
      "{workload: " + workload + ", cluster: " + cluster + ", framework: " + framework + "}", "test.yaml");
  return simulate(file.resolve(library, settings));
}

constexpr const char* kBoxOfEight = "{machine: dgx-1-v100, gpu: v100-sxm2, gpus: 8}";
constexpr const char* kSlowNetwork =
    "{machine: server-2x-pcie3-nic, gpu: gtx-1080-ti, gpus: 8, nodes: 4, fabric: ethernet-1g}";

/// Step time without a codec over that with one.
double gain(const std::string& workload, const std::string& cluster, const std::string& framework,
            const std::string& codec, Settings settings = {}) {
  const Report plain = run(workload, cluster, framework, settings);
  settings.push_back({"strategy.exchange.codec", codec});
  return plain.step_time / run(workload, cluster, framework, settings).step_time;
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("compression gains nothing where the exchange is hidden") {
    const std::string workload = "{model: resnet50, batch: 64 per gpu}";
    for (const char* codec : {"fp16", "bf16", "int8", "one_bit", "top_k", "low_rank"}) {
      CAPTURE(codec);
      CHECK(gain(workload, kBoxOfEight, "pytorch-ddp", codec) <= 1.01);
    }
  }

  TEST_CASE("compression of gradients gains nothing where there is one copy of the model") {
    const std::string workload = "{model: bert-large, batch: 8 per gpu}";
    const Settings pipeline = {{"strategy.pipeline", "{stages: 8, microbatches: 16}"}};
    CHECK(gain(workload, kBoxOfEight, "pytorch-ddp", "int8", pipeline) == doctest::Approx(1).epsilon(1e-9));
  }

  TEST_CASE(
      "half the bits gain about a tenth where some of the exchange shows and one bit several times on a slow network") {
    const double fast = gain("{model: bert-base, batch: 8 per gpu}",
                             "{machine: server-8x-pcie3-dual-root, gpu: gtx-1080-ti, gpus: 8}", "pytorch-ddp", "fp16");
    CHECK(fast >= 1.02);
    CHECK(fast <= 1.2);
    const double slow = gain("{model: vgg16, batch: 32 per gpu}", kSlowNetwork, "pytorch-ddp", "one_bit");
    CHECK(slow >= 3.0);
  }

  TEST_CASE("more bits saved never make a slow exchange slower") {
    double before = run("{model: vgg16, batch: 32 per gpu}", kSlowNetwork, "pytorch-ddp").step_time.count();
    for (const char* codec : {"fp16", "int8", "int4", "one_bit"}) {
      CAPTURE(codec);
      const double now =
          run("{model: vgg16, batch: 32 per gpu}", kSlowNetwork, "pytorch-ddp", {{"strategy.exchange.codec", codec}})
              .step_time.count();
      CHECK(now < before);
      before = now;
    }
  }

  TEST_CASE("one process for all cards makes a small recurrent net slower than one card alone") {
    // The wrapper divides the batch that one card would have.
    for (const char* batch : {"20 global", "80 global"}) {
      CAPTURE(batch);
      const Report report =
          run(std::string("{model: lstm-lm, batch: ") + batch + "}",
              "{machine: workstation-4x-pcie3-x8, gpu: gtx-1080-ti, gpus: 4}", "pytorch-dataparallel");
      REQUIRE(report.speedup);
      CHECK(*report.speedup < 1.0);
    }
  }

  TEST_CASE("embedding gradients as the rows that were used take less than as whole tables") {
    const std::string workload = "{model: lstm-lm, batch: 20 per gpu}";
    const std::string cluster = "{machine: workstation-4x-pcie3-x8, gpu: gtx-1080-ti, gpus: 4}";
    const std::string framework =
        "{name: test, source: nobody, as_of: 2026-11-30, base_memory: 1 MiB, "
        "host: {forward_operator: 5 us, backward_operator: 5 us, step: 0 us, optimizer_tensor: 0 us}, "
        "exchange: {algorithm: ring, bucket: 25 MiB, overlap: true, call: 0 us}, "
        "transport: {message: 2 us, interference: 0}, sparse_embedding: ";
    const Report dense = run(workload, cluster, framework + "false}");
    const Report sparse = run(workload, cluster, framework + "true}");
    CHECK(sparse.exchanged_per_gpu < dense.exchanged_per_gpu);
    CHECK(sparse.step_time < dense.step_time);
  }

  TEST_CASE("N experiments on N cards give N times the results of one") {
    const Report one = run("{model: resnet50, batch: 32 per gpu}",
                           "{machine: workstation-4x-pcie3-x8, gpu: gtx-1080-ti, gpus: 1}", "pytorch-ddp");
    const Report four =
        run("{model: resnet50, batch: 32 per gpu}", "{machine: workstation-4x-pcie3-x8, gpu: gtx-1080-ti, gpus: 4}",
            "pytorch-ddp", {{"strategy.independent", "true"}});
    CHECK(four.throughput == doctest::Approx(4 * one.throughput).epsilon(1e-9));
  }

  TEST_CASE("asynchronous workers are no slower than those that wait for each other") {
    const std::string workload = "{model: alexnet, batch: 64 per gpu}";
    const std::string cluster = "{machine: workstation-4x-pcie3-x8, gpu: gtx-1080-ti, gpus: 4}";
    const Report waits = run(workload, cluster, "tensorflow-parameter-server");
    const Report free = run(workload, cluster, "tensorflow-parameter-server", {{"strategy.asynchronous", "true"}});
    // Everyone pushes as much; the server updates for each alone and not once for the sum.
    CHECK(free.exchanged_per_gpu == waits.exchanged_per_gpu);
    CHECK(free.not_modelled.size() == waits.not_modelled.size() + 1);
  }

  TEST_CASE("an update in host memory frees the card and takes longer") {
    const std::string workload = "{model: bert-large, batch: 4 per gpu, optimizer: adam}";
    const std::string cluster = "{machine: workstation-4x-pcie3-x8, gpu: gtx-1080-ti, gpus: 4}";
    const Report here = run(workload, cluster, "pytorch-ddp");
    const Report there = run(workload, cluster, "pytorch-ddp", {{"strategy.offload_optimizer", "true"}});
    CHECK(there.step_time > here.step_time);
  }
}

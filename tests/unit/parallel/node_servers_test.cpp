#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <utility>

#include "jobs.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

constexpr double kTensor = 4e6;   ///< bytes of the only layer
constexpr double kNetwork = 1e9;  ///< bytes a second of each adapter
constexpr double kServer = 2e9;   ///< bytes a second that one server adds up
constexpr double kSlot = 10e9;    ///< bytes a second of each card

/// Boxes of so many cards on one socket, each with an adapter on one switch.
Topology boxes_of(int boxes, int gpus) {
  TopologyBuilder builder;
  const DeviceId hub = builder.add({.name = "switch", .kind = DeviceKind::network_switch, .node = -1});
  for (int box = 0; box < boxes; ++box) {
    const std::string prefix = "node" + std::to_string(box) + ".";
    const DeviceId cpu = builder.add({.name = prefix + "cpu0", .kind = DeviceKind::cpu, .node = box});
    const DeviceId memory = builder.add({.name = prefix + "memory0", .kind = DeviceKind::memory, .node = box});
    const DeviceId nic = builder.add({.name = prefix + "nic0", .kind = DeviceKind::nic, .node = box});
    builder.connect(cpu, memory, link_type(BytesPerSecond(1e12), Seconds(), "memory"), 1);
    builder.connect(nic, cpu, link_type(BytesPerSecond(1e11), Seconds()), 1);
    builder.connect(nic, hub, link_type(BytesPerSecond(kNetwork), Seconds(), "ethernet"), 1);
    for (int i = 0; i < gpus; ++i) {
      const DeviceId gpu = builder.add({.name = prefix + "gpu" + std::to_string(i), .node = box, .peer_to_peer = true});
      builder.connect(gpu, cpu, link_type(BytesPerSecond(kSlot), Seconds()), 1);
    }
  }
  return std::move(builder).build();
}

struct Asked {
  ExchangeAlgorithm algorithm = ExchangeAlgorithm::parameter_server_gpu;
  double split_from = 1;
  int per_box = 1;
  CodecKind codec = CodecKind::none;
  bool each_gpu = false;
  std::optional<BytesPerSecond> message_rate = {};
};

double seconds(const Asked& asked, int boxes, int gpus) {
  Job job = plain_job(dense_net(1));
  job.framework.exchange = {.algorithm = asked.algorithm,
                            .overlap = false,
                            .servers = BoxServers{.split_from = asked.split_from,
                                                  .per_box = asked.per_box,
                                                  .each_gpu = asked.each_gpu,
                                                  .message_rate = asked.message_rate}};
  job.parallel.exchange.codec = asked.codec;
  job.framework.transport.server_rate = BytesPerSecond(kServer);
  Topology topology = boxes_of(boxes, gpus);
  const std::vector<DeviceId> ranks(topology.gpus().begin(), topology.gpus().end());
  const Cluster cluster{std::move(topology), ranks};
  ClusterSpec spec = star_cluster(gpus);
  spec.nodes = boxes;
  const PlannedStep step = build_plan(job, spec, cluster, &plan_time);
  return execute(step.plan, cluster.topology).end.since_start().count();
}

}  // namespace

TEST_SUITE("parallel") {
  TEST_CASE("a tensor that is divided over all servers loads each adapter with a share of it") {
    // Whole on one server, its adapter gets (N-1) S and sends as much, and it adds up all of S. Divided, every adapter
    // gets (N-1)/N S, and every server adds up S/N.
    for (const int boxes : {2, 4, 8}) {
      CAPTURE(boxes);
      const double n = boxes;
      const double divided = seconds({.split_from = 1}, boxes, 1);
      const double whole = seconds({.split_from = 1e9}, boxes, 1);
      const double fewer = (n - 1) * kTensor * (1 - 1 / n);
      CHECK(whole - divided == doctest::Approx(2 * fewer / kNetwork + fewer / kServer).epsilon(1e-6));
    }
  }

  TEST_CASE("more servers in a box share its adapter and add up beside each other") {
    const double n = 4;
    const double one = seconds({}, 4, 1);
    const double two = seconds({.per_box = 2}, 4, 1);
    CHECK(one - two == doctest::Approx((n - 1) * kTensor / n / kServer / 2).epsilon(1e-6));
  }

  TEST_CASE("a box sends its sum once however many cards it has") {
    // To the owner's card G-1 copies share its slot, then one goes to memory; the same back. The owner reads G copies
    // and writes the sum; one card alone has nothing to add up.
    const double alone = seconds({}, 2, 1);
    const double four = seconds({}, 2, 4);
    const double sum = 5 * kTensor / perfect_card().memory_bandwidth.count();
    CHECK(four - alone == doctest::Approx(2 * 3 * kTensor / kSlot + sum).epsilon(0.02));
  }

  TEST_CASE("a codec is for what goes up to the servers") {
    // Half of S into memory, half of S/2 over each adapter; back it comes as it is.
    const double saved = kTensor / 2 / kSlot + kTensor / 4 / kNetwork;
    const double encode = encode_time(codec(CodecKind::fp16), kTensor / 4, perfect_card().memory_bandwidth).count();
    CHECK(seconds({}, 2, 1) - seconds({.codec = CodecKind::fp16}, 2, 1) ==
          doctest::Approx(saved - encode).epsilon(1e-6));
  }

  TEST_CASE("cards that are workers of their own all send over the adapter of their box") {
    // Half of the tensor is on each of two servers: G cards of the other box send half of S there, and get it back; the
    // server adds up what 2 G cards sent.
    const auto of_cards = [](int gpus) {
      return seconds({.algorithm = ExchangeAlgorithm::parameter_server_cpu, .each_gpu = true}, 2, gpus);
    };
    CHECK(of_cards(4) - of_cards(1) ==
          doctest::Approx(2 * 3 * kTensor / 2 / kNetwork + 6 * kTensor / 2 / kServer).epsilon(1e-6));
  }

  TEST_CASE("a server packs and unpacks the messages of all workers while they travel") {
    // Of two boxes each server gets two halves of S, one over its adapter, and sends as much.
    const double unhindered = seconds({}, 2, 1);
    const double travels = kTensor / 2 / kNetwork;
    CHECK(seconds({.message_rate = BytesPerSecond(1.1 * kTensor / travels)}, 2, 1) ==
          doctest::Approx(unhindered).epsilon(1e-9));
    constexpr double kSlow = 0.1e9;
    CHECK(seconds({.message_rate = BytesPerSecond(kSlow)}, 2, 1) - unhindered ==
          doctest::Approx(2 * (kTensor / kSlow - travels)).epsilon(1e-6));
  }

  TEST_CASE("boxes without a card of the job have no server") {
    for (const TensorOwner rule : {TensorOwner::first_gpu, TensorOwner::least_bytes}) {
      Job job = plain_job(dense_net(5));
      job.framework.exchange = {.algorithm = ExchangeAlgorithm::parameter_server_cpu,
                                .overlap = false,
                                .owner = rule,
                                .servers = BoxServers{.split_from = 1e9}};
      ClusterSpec spec = star_cluster(2);
      const auto with_boxes = [&](int boxes) {
        Topology topology = boxes_of(boxes, 1);
        const std::vector<DeviceId> ranks(topology.gpus().begin(), topology.gpus().begin() + 2);
        const Cluster cluster{std::move(topology), ranks};
        spec.nodes = boxes;
        return execute(build_plan(job, spec, cluster, &plan_time).plan, cluster.topology).end;
      };
      CHECK(with_boxes(2) == with_boxes(3));
      CHECK(with_boxes(2) == with_boxes(5));
    }
  }

  TEST_CASE("on the CPU each card sends over its own slot and the processor adds up") {
    const Asked on_cpu{.algorithm = ExchangeAlgorithm::parameter_server_cpu};
    CHECK(seconds(on_cpu, 2, 4) - seconds(on_cpu, 2, 1) == doctest::Approx(3 * kTensor / kServer).epsilon(1e-6));
  }
}

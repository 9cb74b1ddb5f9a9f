#include "collective/all_reduce.hpp"

#include <doctest/doctest.h>

#include "execution/execute.hpp"
#include "unit/machines.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

Exchange of_size(Bytes size, CodecKind codec = CodecKind::none) {
  Exchange exchange;
  exchange.size = size;
  exchange.values = size.count() / 4.0;
  exchange.codec = codec;
  return exchange;
}

using AddAllReduce = RankTasks (*)(PlanBuilder&, const RankGroup&, const Exchange&, const RankTasks&);

Time end_of(AddAllReduce add, const Topology& machine, const Exchange& exchange, Transport transport = {}) {
  PlanBuilder plan;
  const RankGroup group(machine, participants_of(machine, plan), transport, &plan_time);
  add(plan, group, exchange, RankTasks(group.size()));
  return execute(std::move(plan).build(), machine).end;
}

/// A server on the first GPU.
RankTasks sum_and_broadcast(PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                            const RankTasks& ready) {
  return add_broadcast(plan, group, exchange, add_reduce_to_first(plan, group, exchange, ready));
}

double seconds(Time time) { return time.since_start().count(); }

}  // namespace

TEST_SUITE("collective") {
  TEST_CASE("a ring on idle links takes the textbook time") {
    // 2 (N-1)/N of the bytes over each link: Patarasuk and Yuan 2009, bandwidth optimal all-reduce.
    for (const int gpus : {2, 4, 8, 64}) {
      CAPTURE(gpus);
      const double n = gpus;
      CHECK(seconds(end_of(add_ring_all_reduce, star_of(gpus, 12.5_GBps), of_size(400_MB))) ==
            doctest::Approx(2 * (n - 1) / n * 400e6 / 12.5e9).epsilon(1e-9));
    }
  }

  TEST_CASE("a ring pays its latency at each of its 2 (N-1) steps") {
    for (const int gpus : {2, 4, 8}) {
      CAPTURE(gpus);
      const double n = gpus;
      CHECK(seconds(end_of(add_ring_all_reduce, star_of(gpus, 12.5_GBps, 1_us), of_size(0_B))) ==
            doctest::Approx(2 * (n - 1) * 2e-6).epsilon(1e-9));
    }
  }

  TEST_CASE("the coupled ring equals the ring of every step to the picosecond on idle equal links") {
    for (const int gpus : {2, 4, 8, 16}) {
      CAPTURE(gpus);
      // Sizes for which a step takes whole picoseconds.
      const Exchange exchange = of_size(1024_MB);
      Exchange stepwise = exchange;
      stepwise.fidelity = Fidelity::stepwise;
      const Topology machine = star_of(gpus, 10_GBps, 1_us);
      CHECK(end_of(add_ring_all_reduce, machine, exchange) == end_of(add_ring_all_reduce, machine, stepwise));
    }
  }

  TEST_CASE("a direct all-reduce moves as much as a ring in two steps") {
    const Topology machine = star_of(4, 10_GBps, 1_us);
    CHECK(seconds(end_of(add_direct_all_reduce, machine, of_size(400_MB))) ==
          doctest::Approx(2 * 0.75 * 400e6 / 10e9 + 2 * 2e-6).epsilon(1e-9));
  }

  TEST_CASE("a GPU server receives and sends everything over its one link") {
    // Three senders share the link into GPU 0, then three copies share the link out of it; the sum reads
    // three copies and its own and writes the result at 288.4 GB/s.
    const double sum = 5 * 100e6 / 288.4e9;
    CHECK(seconds(end_of(sum_and_broadcast, star_of(4, 10_GBps), of_size(100_MB))) ==
          doctest::Approx(2 * 3 * 100e6 / 10e9 + sum).epsilon(1e-9));
  }

  TEST_CASE("a GPU server decodes what it receives and encodes what it sends") {
    // A quarter of the bytes on the links. Senders encode at the same time and receivers decode so, the server three
    // tensors one after the other and its sum once: 0.1 and 0.05 ns a number, arXiv:1511.04561.
    const double numbers = 100e6 / 4;
    const double codes = numbers * (2 * 0.1e-9 + (3 + 1) * 0.05e-9);
    const double sum = 5 * 100e6 / 288.4e9;
    CHECK(seconds(end_of(sum_and_broadcast, star_of(4, 10_GBps), of_size(100_MB, CodecKind::int8))) ==
          doctest::Approx(2 * 3 * 25e6 / 10e9 + sum + codes).epsilon(1e-9));
  }

  TEST_CASE("through doors one copy after the other leaves a rank and the most urgent first") {
    const Topology machine = star_of(3, 10_GBps);
    PlanBuilder plan;
    const RankGroup group(machine, participants_of(machine, plan), Transport{}, &plan_time);
    std::vector<GateId> gates;
    for (std::size_t i = 0; i < group.size(); ++i) gates.push_back(plan.add_gate(1.0));
    const Exchange exchange = of_size(100_MB);
    const RankTasks first = add_broadcast_from(plan, group, 1, exchange, TaskId(), {.gates = gates, .urgency = 2});
    const RankTasks late = add_broadcast_from(plan, group, 1, exchange, TaskId(), {.gates = gates, .urgency = 2});
    const RankTasks urgent = add_broadcast_from(plan, group, 1, exchange, TaskId(), {.gates = gates, .urgency = 1});
    const Timeline timeline = execute(std::move(plan).build(), machine);
    const auto end = [&](TaskId task) { return seconds(timeline.tasks[task.index()].end); };
    CHECK(end(first[0]) == doctest::Approx(10e-3));  // has entered before the urgent ones come
    CHECK(end(urgent[0]) == doctest::Approx(20e-3));
    CHECK(end(urgent[2]) == doctest::Approx(30e-3));
    CHECK(end(first[2]) == doctest::Approx(40e-3));
    CHECK(end(late[2]) == doctest::Approx(60e-3));
  }

  TEST_CASE("a CPU server adds up at its rate between the copies") {
    const Topology machine = desktop_of(2, 10_GBps, 100_GBps);
    PlanBuilder plan;
    Transport transport;
    transport.server_rate = 5_GBps;
    const RankGroup group(machine, participants_of(machine, plan), transport, &plan_time);
    add_cpu_server(plan, group, of_size(100_MB), RankTasks(2), {.lane = plan.add_lane("server")});
    // Each card has its own slot: 10 ms up, one addition of 20 ms, 10 ms down.
    CHECK(seconds(execute(std::move(plan).build(), machine).end) == doctest::Approx(40e-3).epsilon(1e-9));
  }

  TEST_CASE("copies of a card through host memory share its staged rate, in whichever exchange they are") {
    const Topology machine = desktop_of(2, 12_GBps, 100_GBps, 5_GBps);
    CHECK(seconds(end_of(add_ring_all_reduce, machine, of_size(100_MB))) == doctest::Approx(20e-3).epsilon(1e-9));
    const auto one_way = [](PlanBuilder& plan, const RankGroup& group, const Exchange& exchange,
                            const RankTasks& ready) { return add_broadcast(plan, group, exchange, ready.front()); };
    CHECK(seconds(end_of(one_way, machine, of_size(100_MB))) == doctest::Approx(10e-3).epsilon(1e-9));
    PlanBuilder plan;
    const RankGroup group(machine, participants_of(machine, plan), Transport{}, &plan_time);
    add_ring_all_reduce(plan, group, of_size(100_MB), RankTasks(2));
    add_ring_all_reduce(plan, group, of_size(50_MB), RankTasks(2));
    CHECK(seconds(execute(std::move(plan).build(), machine).end) == doctest::Approx(30e-3).epsilon(1e-9));
  }

  TEST_CASE("slow host memory holds a staged ring of four cards") {
    // Each byte of each of four hops is written to and read from memory: 8 x rate <= 16 GB/s.
    const Topology machine = desktop_of(4, 12_GBps, 16_GBps);
    CHECK(seconds(end_of(add_ring_all_reduce, machine, of_size(100_MB))) ==
          doctest::Approx(1.5 * 100e6 / 2e9).epsilon(1e-9));
  }

  TEST_CASE("an 8-bit ring moves a quarter and pays its codec at every hop") {
    // arXiv:1511.04561: 0.1 ns to encode and 0.05 ns to decode a number on a GTX Titan.
    const double n = 4;
    const double values = 25e6;
    const double codec_time = values * 0.15e-9 + (n - 1) / n * values * 0.15e-9;
    CHECK(seconds(end_of(add_ring_all_reduce, star_of(4, 10_GBps), of_size(100_MB, CodecKind::int8))) ==
          doctest::Approx(2 * (n - 1) / n * 25e6 / 10e9 + codec_time).epsilon(1e-9));
  }

  TEST_CASE("top-k codes are gathered by every rank and grow with their number") {
    const Codec& code = codec(CodecKind::top_k);
    const double values = 25e6;
    const double wire = values * code.bits_per_value / 8;
    for (const int gpus : {2, 8}) {
      CAPTURE(gpus);
      const double n = gpus;
      const double codec_time = values * code.encode_per_value.count() + n * values * code.decode_per_value.count();
      CHECK(seconds(end_of(add_ring_all_reduce, star_of(gpus, 1_GBps), of_size(100_MB, CodecKind::top_k))) ==
            doctest::Approx((n - 1) * wire / 1e9 + codec_time).epsilon(1e-9));
    }
  }

  TEST_CASE("one rank has nothing to exchange") {
    CHECK(end_of(add_ring_all_reduce, star_of(1, 10_GBps), of_size(100_MB)) == Time());
  }

  TEST_CASE("half an all-reduce is a reduce-scatter and the other half an all-gather") {
    const Topology machine = star_of(4, 10_GBps);
    const double half = 0.75 * 400e6 / 10e9;
    CHECK(seconds(end_of(add_reduce_scatter, machine, of_size(400_MB))) == doctest::Approx(half).epsilon(1e-9));
    CHECK(seconds(end_of(add_all_gather, machine, of_size(400_MB))) == doctest::Approx(half).epsilon(1e-9));
  }
}

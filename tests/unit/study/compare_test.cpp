#include "study/compare.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace gpuscale;

namespace {

/// A job of 100 samples a step.
Candidate job(std::string name, double compute_s, double exchange_s, double batch = 100) {
  Candidate candidate;
  candidate.name = std::move(name);
  Report& report = candidate.report;
  report.split.compute = Seconds(compute_s);
  report.split.exchange_exposed = Seconds(exchange_s);
  report.step_time = Seconds(compute_s + exchange_s);
  report.global_batch = batch;
  report.throughput = batch / report.step_time.count();
  report.limited_by = "something";
  return candidate;
}

std::vector<std::string> order(const Ranking& ranking) {
  std::vector<std::string> names;
  for (const RankedReport& entry : ranking.entries) names.push_back(entry.name);
  return names;
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("jobs rank by throughput with the largest difference as the reason") {
    Candidate quiet = job("quiet", 0.2, 0.05);
    quiet.report.exchanged_per_gpu = Bytes(1048576);
    Candidate chatty = job("chatty", 0.19, 0.31);
    chatty.report.exchanged_per_gpu = Bytes(4194304);
    const Ranking ranking = rank({chatty, quiet});
    CHECK(order(ranking) == std::vector<std::string>{"quiet", "chatty"});
    CHECK(ranking.entries[0].rank == 1);
    CHECK(ranking.entries[1].relative == doctest::Approx(0.5).epsilon(1e-12));
    CHECK(ranking.entries[0].why == "260 ms less exposed exchange than chatty");
    CHECK(ranking.entries[1].why == "260 ms more exposed exchange (310 ms, not 50.0 ms)");
    CHECK(ranking.verdict ==
          "quiet wins with 2.00x the throughput of chatty: exposed exchange takes 50.0 ms a step instead of 310 ms; a "
          "GPU sends 1.00 MiB a step instead of 4.00 MiB");
  }

  TEST_CASE("a job that does not fit ranks last however fast it is") {
    Candidate big = job("big", 0.1, 0);
    big.report.memory.fits = false;
    big.report.memory.footprint.parameters = Bytes(16.0 * 1073741824);
    big.report.memory.capacity = Bytes(8.0 * 1073741824);
    const Ranking ranking = rank({big, job("small", 0.9, 0)});
    CHECK(order(ranking) == std::vector<std::string>{"small", "big"});
    CHECK(ranking.entries[1].why == "does not fit: needs 16.0 GiB of 8.00 GiB");
    CHECK(ranking.verdict == "small wins: it alone fits in memory");
  }

  TEST_CASE("nothing wins if nothing fits") {
    Candidate big = job("big", 0.1, 0);
    big.report.memory.fits = false;
    CHECK(rank({big}).verdict == "none of them fits in the memory of its GPUs");
  }

  TEST_CASE("a job that cannot run ranks below all others with its reason and no place") {
    Candidate impossible = job("impossible", 0.1, 0);
    impossible.report.problem = "10 outputs do not split";
    Candidate big = job("big", 0.1, 0);
    big.report.memory.fits = false;
    const Ranking ranking = rank({impossible, big, job("small", 0.9, 0)});
    CHECK(order(ranking) == std::vector<std::string>{"small", "big", "impossible"});
    CHECK(ranking.entries[2].rank == 0);
    CHECK(ranking.entries[2].relative == 0.0);
    CHECK(ranking.entries[2].why == "cannot run: 10 outputs do not split");
    CHECK(rank({impossible, job("small", 0.9, 0)}).verdict == "small wins: it alone can run");
    CHECK(rank({impossible}).verdict == "none of them can run");
  }

  TEST_CASE("a need that rounds to what there is gets more digits") {
    Candidate big = job("big", 0.1, 0);
    big.report.memory.fits = false;
    big.report.memory.footprint.parameters = Bytes(11.02 * 1073741824);
    big.report.memory.capacity = Bytes(11.0 * 1073741824);
    CHECK(rank({big}).entries[0].why == "does not fit: needs 11.02 GiB of 11.00 GiB");
  }

  TEST_CASE("jobs of unlike batches compare by the time of as many samples") {
    const Ranking ranking = rank({job("four", 0.4, 0, 400), job("one", 0.2, 0, 100)});
    CHECK(ranking.entries[1].why == "400 ms more computing for as many samples (800 ms, not 400 ms)");
  }

  TEST_CASE("equals keep their order and nobody wins") {
    const Ranking ranking = rank({job("a", 0.2, 0.1), job("b", 0.2, 0.1)});
    CHECK(order(ranking) == std::vector<std::string>{"a", "b"});
    CHECK(ranking.verdict == "a and b are as fast as each other");
    CHECK(ranking.entries[1].why == "as fast as the first");
  }
}

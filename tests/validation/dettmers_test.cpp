// Model parallelism and compression of 2014 and 2015: Dettmers, arXiv:1511.04561; Krizhevsky, arXiv:1404.5997; Seide et
// al., 1-Bit SGD. Published figures beside those of shipped scenarios, with the error in percent.

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <map>

#include "validation/scenario_runs.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

/// ms of one card's part of an N x N layer at batch 256 on `split` cards, as workloads/scenarios/dettmers-fc-layer.yaml
/// says: the product in tiles of 128 x 128, 28 at a time, a copy of its weights, two launches.
double part_time(int side, int split) {
  constexpr int kTile = 128;
  constexpr int kAtOnce = 28;
  const int columns = side / split;
  const int tiles = 256 / kTile * ((columns + kTile - 1) / kTile);
  const int full = tiles / kAtOnce;
  const int rest = tiles % kAtOnce;
  const double waves = full + (rest == 0 ? 0.0 : rest <= kAtOnce / 2 ? 0.75 : 1.0);
  const double wave = 2.0 * kAtOnce * kTile * kTile * side / 3.6e12;
  const double copied = 8.0 * side * columns;  // bytes read and written
  return (waves * wave + copied / 115e9 + 2 * 6e-6) * 1e3;
}

}  // namespace

TEST_SUITE("validation") {
  TEST_CASE("four cards split by one weird trick reach what the model of the paper says") {
    // arXiv:1511.04561, tables 1 and 7.
    const std::map<std::pair<std::string, std::string>, double> published = {
        {{"alexnet-dettmers-2015", "none"}, 3.53},
        {{"alexnet-dettmers-2015", "int8"}, 3.67},
        {{"alexnet-dettmers-2015-convnet2", "none"}, 3.71},
        {{"alexnet-dettmers-2015-convnet2", "int8"}, 3.80}};
    for (const Report& report : shipped("dettmers-4gpu")) {
      const std::string model = setting(report, "workload.model");
      const std::string codec = setting(report, "strategy.model.codec");
      CHECK(error_of(fmt::format("{}, {}", model, codec), published.at({model, codec}), *report.speedup) <= 0.02);
    }
  }

  TEST_CASE("one dense layer over several cards gains or loses as measured") {
    // arXiv:1511.04561, data files: N, one card in ms, then speed-ups of 2 cards with 32 and 8 bits, of 4 with 32
    // and 8.
    struct Row {
      int side;
      double alone;
      std::array<double, 4> speedups;  // 0: not measured
    };
    constexpr std::array<Row, 6> kRows = {{{1024, 0.2475, {0.54, 0.71, 0.33, 0.53}},
                                           {2048, 0.83, {0.77, 1.01, 0.58, 1.01}},
                                           {3072, 2.07, {1.20, 1.78, 0.86, 1.48}},
                                           {4096, 2.74, {0.76, 1.12, 0.69, 1.32}},
                                           {5120, 4.135, {0.97, 1.33, 0.86, 1.60}},
                                           {6144, 7.21, {0, 0, 1.35, 2.36}}}};
    double sum = 0;
    double worst = 0;
    int entries = 0;
    for (const Row& row : kRows) {
      const std::string model = fmt::format(
          "{{name: layer, family: dense, source: test, input: {{features: {0}}}, layers: [linear: {{out: {0}, bias: "
          "false, "
          "measured: [{{forward: {1} ms, batch: 256}}, {{forward: {2} ms, batch: 256, split: 2}}, "
          "{{forward: {3} ms, batch: 256, split: 4}}]}}, softmax_loss: {{measured: {{forward: 0 ms, batch: 1}}}}]}}",
          row.side, row.alone, part_time(row.side, 2), part_time(row.side, 4));
      const auto step = [&](int cards, std::string codec) {
        return shipped_with("dettmers-fc-layer", {{"workload.model", model},
                                                  {"cluster.gpus", std::to_string(cards)},
                                                  {"strategy.model.degree", std::to_string(cards)},
                                                  {"strategy.model.codec", std::move(codec)}})
            .step_time;
      };
      const Seconds alone = step(1, "none");
      for (std::size_t i = 0; i < row.speedups.size(); ++i) {
        if (row.speedups[i] == 0) continue;
        const int cards = i < 2 ? 2 : 4;
        const bool coded = i % 2 == 1;
        const double ours = alone / step(cards, coded ? "int8" : "none");
        const double error =
            error_of(fmt::format("dettmers-fc-layer, N = {}, {} GPUs, {} bit", row.side, cards, coded ? 8 : 32),
                     row.speedups[i], ours);
        CHECK((ours > 1) == (row.speedups[i] > 1));
        sum += error;
        worst = std::max(worst, error);
        ++entries;
      }
    }
    CHECK(entries == 22);
    CHECK(sum / entries <= 0.07);
    CHECK(worst <= 0.145);
  }

  TEST_CASE("the parts of a dense layer follow from its one-card times") {
    // arXiv:1511.04561, ms of one card without the sizes at which a Titan's tiles fit badly (3072, 6144).
    const std::map<int, double> published = {{1024, 0.2475}, {2048, 0.83}, {4096, 2.74}, {5120, 4.135}};
    for (const auto& [side, alone] : published) {
      const double copy_and_launches = 8.0 * side * side / 115e9 * 1e3 + 0.012;
      CHECK(error_of(fmt::format("dettmers-fc-layer, N = {}, 1 GPU", side), alone,
                     part_time(side, 1) - copy_and_launches) <= 0.11);
    }
  }

  TEST_CASE("the paper's own formula gives its speed-ups of four cards") {
    // 4 T / ((T - 6.5) + 0.05 + 4 x 3.34 + p), times in ms; p is what the activations add.
    const auto speedup = [](double step, double exposed) {
      return 4 * step / (step - 6.5 + 0.05 + 4 * 3.34 + exposed);
    };
    CHECK(speedup(104.1, 6.81) == doctest::Approx(3.53).epsilon(2e-3));
    CHECK(speedup(104.1, 2.55) == doctest::Approx(3.67).epsilon(2e-3));
    CHECK(speedup(177, 6.81) == doctest::Approx(3.71).epsilon(2e-3));
    CHECK(speedup(177, 2.55) == doctest::Approx(3.80).epsilon(2e-3));
  }

  TEST_CASE("the paper's own formula gives its speed-ups of 96 cards") {
    struct Row {
      double sub_batch;
      std::array<double, 2> sync;      // ms, 32 and 8 bits
      std::array<double, 2> own;       // T = 104.1 ms
      std::array<double, 2> convnet2;  // T = 177 ms
    };
    constexpr std::array<Row, 5> kRows = {{{256, {4.2, 0.55}, {20, 24.4}, {29.7, 35.2}},
                                           {512, {7.15, 1.13}, {23, 39.3}, {33.5, 51.9}},
                                           {1024, {17.4, 2.25}, {14.8, 48.6}, {22.7, 61}},
                                           {2048, {25.5, 3.26}, {11.3, 50.6}, {17.7, 62.8}},
                                           {12288, {250, 31}, {1.3, 9.7}, {2.15, 15.5}}}};
    for (const Row& row : kRows) {
      for (const std::size_t bits : {std::size_t{0}, std::size_t{1}}) {
        const double exposed = std::max(row.sync[bits], 31 * row.sync[bits] - 40.3);
        const auto speedup = [&](double step) {
          return 96 * step / (step - 6.5 + 6.5 * 12288 / row.sub_batch + exposed);
        };
        CHECK(speedup(104.1) == doctest::Approx(row.own[bits]).epsilon(0.02));
        CHECK(speedup(177) == doctest::Approx(row.convnet2[bits]).epsilon(0.02));
      }
    }
  }

  TEST_CASE("96 cards reach fifty times one with 8 bits and twenty-three times with 32") {
    // arXiv:1511.04561: speed-ups by sub-batch. Two entries of 32 bits are out of reach, as the next case shows.
    const std::map<std::pair<std::string, std::string>, std::array<double, 4>> published = {
        {{"alexnet-dettmers-2015-cluster", "none"}, {20, 23, 14.8, 11.3}},
        {{"alexnet-dettmers-2015-cluster", "int8"}, {24.4, 39.3, 48.6, 50.6}},
        {{"alexnet-dettmers-2015-cluster-convnet2", "none"}, {29.7, 33.5, 22.7, 17.7}},
        {{"alexnet-dettmers-2015-cluster-convnet2", "int8"}, {35.2, 51.9, 61, 62.8}}};
    constexpr std::array kSubBatches = {"256", "512", "1024", "2048"};
    for (const auto& [which, speedups] : published) {
      const auto& [model, codec] = which;
      double best = 0;
      for (std::size_t i = 0; i < kSubBatches.size(); ++i) {
        const Report report = shipped_with(
            "dettmers-96gpu",
            {{"workload.model", model}, {"strategy.model.codec", codec}, {"strategy.model.sub_batch", kSubBatches[i]}});
        const double error =
            error_of(fmt::format("{}, {}, {}", model, codec, kSubBatches[i]), speedups[i], *report.speedup);
        if (codec == "int8" || i < 2) CHECK(error <= 0.105);
        best = std::max(best, *report.speedup);
      }
      CHECK(error_of(fmt::format("{}, {}, best", model, codec), *std::ranges::max_element(speedups), best) <= 0.145);
    }
  }

  TEST_CASE("32 bits on 96 cards at sub-batches of 1024 and 2048 contradict those at 512") {
    // A step lasts what all cards compute (c1: convolutions, c2: linear layers of all passes) and what the activations
    // of 12,288 images take, x. Nothing hides before convolutions end nor behind those of the next step: c1 + x is the
    // least, c1 + c2 + x the most. x is of the same bytes at any sub-batch, and larger messages are no slower.
    struct Row {
      double step;  // ms of one card
      double at_512;
      double at_1024;
      double at_2048;
    };
    constexpr double kLinear = 6.5;
    for (const Row& row : {Row{104.1, 23, 14.8, 11.3}, Row{177, 33.5, 22.7, 17.7}}) {
      const double convolutions = row.step - kLinear;
      const auto longest = [&](double printed) { return 96 * row.step / (printed * 0.9); };   // within 10 %
      const auto shortest = [&](double printed) { return 96 * row.step / (printed * 1.1); };  // within 10 %
      const double most = longest(row.at_512) - convolutions;
      const double least_1024 = shortest(row.at_1024) - convolutions - kLinear * 12288 / 1024;
      const double least_2048 = shortest(row.at_2048) - convolutions - kLinear * 12288 / 2048;
      fmt::print(
          "  exchanges of a step of {} ms: at most {:.0f} ms at 512, at least {:.0f} ms at 1024, {:.0f} ms at 2048\n",
          row.step, most, least_1024, least_2048);
      CHECK(most < least_1024);
      CHECK(least_1024 < least_2048);
    }
  }

  TEST_CASE("one weird trick on K20 cards reaches what Krizhevsky measured") {
    // arXiv:1404.5997, table 1: batch of the linear layers as large as that of the convolutions, or updated after 128.
    const std::map<std::pair<int, bool>, double> published = {
        {{4, false}, 3.74}, {{4, true}, 3.66}, {{8, false}, 6.25}};
    for (const auto& [which, speedup] : published) {
      const auto& [cards, update_each] = which;
      const Report report =
          shipped_with("krizhevsky-2014", {{"cluster.gpus", std::to_string(cards)},
                                           {"strategy.model.degree", std::to_string(cards)},
                                           {"strategy.model.update_each", update_each ? "true" : "false"}});
      CHECK(error_of(fmt::format("krizhevsky-2014, {} GPUs{}", cards, update_each ? ", updated after 128" : ""),
                     speedup, *report.speedup) <= 0.05);
    }
  }

  TEST_CASE("1-bit SGD scales as Seide measured") {
    // Interspeech 2014, table 5: minibatches of 2,880 and 16,384 frames, of which a step is half.
    const std::map<std::pair<std::string, std::string>, double> published = {{{"1440 global", "1"}, 4.03},
                                                                             {{"1440 global", "2"}, 4.64},
                                                                             {{"8192 global", "1"}, 9.50},
                                                                             {{"8192 global", "2"}, 8.84}};
    for (const Report& report : shipped("seide-2014")) {
      const std::string batch = setting(report, "workload.batch");
      const std::string model = setting(report, "strategy.model");
      CHECK(error_of(fmt::format("seide-2014, {}, {} cards a copy", batch, model), published.at({batch, model}),
                     *report.speedup) <= 0.15);
    }
  }

  TEST_CASE("four bits gain on eight K80 dies what QSGD measured") {
    // arXiv:1610.02132, table 1; BN-Inception has the parameters of GoogLeNet within a factor of 1.6.
    struct Row {
      const char* model;
      const char* batch;
      const char* codec;
      double gain;
    };
    constexpr std::array<Row, 5> kRows = {{{"alexnet", "128 per gpu", "int4", 2.05},
                                           {"resnet152", "16 per gpu", "int8", 1.56},
                                           {"resnet50", "32 per gpu", "int4", 1.26},
                                           {"vgg19", "16 per gpu", "int4", 2.25},
                                           {"googlenet", "32 per gpu", "int4", 1.16}}};
    for (const Row& row : kRows) {
      const auto step = [&](const char* codec) {
        return shipped_with(
                   "qsgd-2017",
                   {{"workload.model", row.model}, {"workload.batch", row.batch}, {"strategy.exchange.codec", codec}})
            .step_time;
      };
      CHECK(error_of(fmt::format("qsgd-2017, {}, {}", row.model, row.codec), row.gain,
                     step("none") / step(row.codec)) <= 0.20);
    }
  }
}

#include "report/text.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <sstream>
#include <string>
#include <vector>

#include "sample_report.hpp"

using namespace gpuscale;

namespace {

std::string text_of(const Report& report, const TextStyle& style = {}) {
  std::ostringstream out;
  write_text(out, report, style);
  return out.str();
}

std::string table_of(const std::vector<Report>& reports, const TextStyle& style = {}) {
  std::ostringstream out;
  write_text(out, std::span<const Report>(reports), style);
  return out.str();
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, display_width(line));
  return widest;
}

}  // namespace

TEST_SUITE("report") {
  TEST_CASE("the report of one point is exactly this") {
    CHECK(text_of(test::sample_report()) == R"(Sample
  model             Net
  GPUs              4 x Card
  machine           Box
  framework         Framework
  strategy          data parallel
  batch             64 per GPU, 256 in all (weak scaling)

  step time         250 ms (between 200 ms and 500 ms)
  throughput        1024 samples/s
  speed-up          3.00x on 4 GPUs, efficiency 75.0 % (against one GPU)
  sent              1.00 MiB a step by each GPU (4.00 MiB without the codec)

Where the step goes
  compute               188 ms    75.0 %  ##############################
  exposed exchange     62.5 ms    25.0 %  ##########

Memory of one GPU
  parameters          1.00 GiB    12.5 %
  activations         3.00 GiB    37.5 %
  together            4.00 GiB    50.0 %  of 8.00 GiB
  fits              up to 149 samples per GPU

Busiest links
  gpu0 -> cpu0    50.0 %  1.00 MiB a step

Limited by  GPU compute: 75 % of the step

Not modelled
  - weather

from 1 data file (--verbose names them)
)");
  }

  TEST_CASE("a table of points is exactly this") {
    CHECK(table_of({test::sample_report(2), test::sample_report(16)}) == R"(Sample
Net | Card | Box | Framework

GPUs  step time  samples/s  speed-up  efficiency  compute  exchange    memory  limited by
   2     250 ms        512     1.50x      75.0 %   75.0 %    25.0 %  4.00 GiB  compute 75 %
  16     250 ms       4096    12.00x      75.0 %   75.0 %    25.0 %  4.00 GiB  compute 75 %

2 points over cluster.gpus = 2, 16 (set: strategy.exchange.codec = int8)
every point fits in memory
speed-up against one GPU
)");
  }

  TEST_CASE("a point that does not fit says so in every form") {
    Report report = test::sample_report();
    report.memory.fits = false;
    CHECK(text_of(report).find("DOES NOT FIT") != std::string::npos);
    const std::string table = table_of({report, test::sample_report(2)});
    CHECK(table.find("NO    memory") != std::string::npos);
    CHECK(table.find("every point fits") == std::string::npos);
  }

  TEST_CASE("layers and sources are named on request") {
    Report report = test::sample_report();
    report.layers = {{.name = "conv1",
                      .kind = "conv",
                      .out = "64x8x8",
                      .parameters = 1234,
                      .activation = Bytes(2048),
                      .error = Bytes(2048),
                      .saved = Bytes(1024),
                      .forward = Seconds(0.001),
                      .backward = Seconds(0.002)}};
    CHECK(text_of(report).find("conv1") == std::string::npos);
    const std::string text = text_of(report, {.verbose = true});
    CHECK(text.find("  layer  kind  out     parameters  activation     saved  forward  backward\n"
                    "  conv1  conv  64x8x8      1.23 k    2.00 KiB  1.00 KiB  1.00 ms   2.00 ms\n") !=
          std::string::npos);
    CHECK(text.find("  - net.yaml: a book") != std::string::npos);
  }

  TEST_CASE("what rounding leaves of a part is not shown") {
    Report report = test::sample_report();
    report.split.host = Seconds(1e-12);
    CHECK(text_of(report).find("  host") == std::string::npos);
  }

  TEST_CASE("a transfer has a time and nothing that scales") {
    Report report = test::sample_report();
    report.global_batch = report.batch_per_gpu = 0;
    report.speedup.reset();
    report.efficiency.reset();
    const std::string text = text_of(report);
    CHECK(text.find("\n  time              250 ms") != std::string::npos);
    CHECK(text.find("samples") == std::string::npos);
    CHECK(text.find("Memory") == std::string::npos);
  }

  TEST_CASE("lines stay within the width asked for") {
    Report report = test::sample_report();
    for (int i = 0; i < 3; ++i) {
      report.settings.emplace_back("some.key" + std::to_string(i), "a rather long value of a swept key");
      report.limited_by += ", and then a longer and longer sentence";
    }
    CHECK(widest_line(text_of(report, {.width = 80})) <= 80);
    CHECK(widest_line(table_of({report, test::sample_report(2)}, {.width = 80})) <= 80);
  }

  TEST_CASE("colour only adds escape sequences and names cannot bring their own") {
    Report report = test::sample_report();
    report.scenario = "evil \x1b[2J name";
    CHECK(text_of(report).find('\x1b') == std::string::npos);
    std::string coloured = text_of(test::sample_report(), {.colour = true});
    CHECK(coloured.find("\x1b[1mSample\x1b[0m") == 0);
    for (std::size_t at = 0; (at = coloured.find('\x1b')) != std::string::npos;) {
      coloured.erase(at, coloured.find('m', at) - at + 1);
    }
    CHECK(coloured == text_of(test::sample_report()));
  }

  TEST_CASE("Markdown tables escape what would break them") {
    std::ostringstream out;
    Report report = test::sample_report();
    report.scenario = "a | b";
    write_markdown(out, report);
    CHECK(out.str().find("| scenario | a \\| b |") != std::string::npos);
  }

  TEST_CASE("a sweep in Markdown has one row a point") {
    std::ostringstream out;
    const std::vector<Report> reports = {test::sample_report(1), test::sample_report(2)};
    write_markdown(out, std::span<const Report>(reports));
    CHECK(out.str() ==
          "| GPUs | step time | samples/s | speed-up | efficiency | compute | exchange | memory | limited by |\n"
          "|---:|---:|---:|---:|---:|---:|---:|---:|---|\n"
          "| 1 | 250 ms | 256 | 0.75x | 75.0 % | 75.0 % | 25.0 % | 4.00 GiB | compute 75 % |\n"
          "| 2 | 250 ms | 512 | 1.50x | 75.0 % | 75.0 % | 25.0 % | 4.00 GiB | compute 75 % |\n");
  }

  TEST_CASE("a ranking wraps its reasons under themselves") {
    Ranking ranking{
        .entries = {{1, "data", 1.0, "one two three four five six seven eight nine", test::sample_report()}},
        .verdict = "data is alone"};
    std::ostringstream out;
    write_text(out, ranking, {.width = 80});
    CHECK(out.str() == R"(Sample
Net | Card | Box | Framework

    name  step time  samples/s  of best  speed-up  why
1.  data     250 ms       1024    1.00x     3.00x  one two three four five six
                                                   seven eight nine

data is alone
)");
  }

  TEST_CASE("a refused point has a row with the reason and a dash for each figure") {
    Report refused = test::sample_report(3);
    refused.problem = "a batch of 64 does not divide over 3 replicas";
    const std::string table = table_of({test::sample_report(2), refused}, {.width = 160});
    CHECK(table.find("limited by    problem\n") != std::string::npos);
    CHECK(table.find("\n   3          -          -         -           -        -         -         -  -             a "
                     "batch of 64 does not divide over 3 replicas\n") != std::string::npos);
    CHECK(table.find("1 of them cannot run; the reason stands with each") != std::string::npos);
    CHECK(table.find("every point fits") == std::string::npos);
    CHECK(widest_line(table_of({test::sample_report(2), refused}, {.width = 90})) <= 90);
    CHECK(table_of({refused}).find("samples/s") != std::string::npos);
  }

  TEST_CASE("a reason stands below its row where columns want its room") {
    Report refused = test::sample_report(3);
    refused.problem = "a batch of 64 does not divide over 3 replicas";
    const auto first_line = [](const std::string& table) {
      const std::size_t start = table.find("GPUs  ");
      return table.substr(start, table.find('\n', start) - start);
    };
    const TextStyle narrow{.width = 110};
    const std::string table = table_of({test::sample_report(2), refused}, narrow);
    CHECK(first_line(table) == first_line(table_of({test::sample_report(2), test::sample_report(3)}, narrow)));
    CHECK(table.find("\n    a batch of 64 does not divide over 3 replicas\n") != std::string::npos);
    CHECK(widest_line(table) <= 110);
  }

  TEST_CASE("what a codec brings is told in bytes and exchange time and step time") {
    Report report = test::sample_report(2);
    report.step_time = 200_ms;
    report.exchanging = 4_ms;
    report.exchanged_per_gpu = 10_MB;
    report.exchange_uncompressed_per_gpu = 40_MB;
    report.codec_gain = CodecGain{.codecs = "int8", .exchanging_without = 12_ms, .step_time_without = 260_ms};
    std::ostringstream out;
    write_text(out, report, {});
    CHECK(out.str().find("int8: 4.0x fewer bytes, exchange 12.0 ms -> 4.00 ms, step 1.30x faster") !=
          std::string::npos);
    report.codec_gain->step_time_without = 100_ms;
    std::ostringstream slower;
    write_text(slower, report, {});
    CHECK(slower.str().find("step 2.00x slower") != std::string::npos);
  }

  TEST_CASE("huge figures do not run into each other") {
    Report report = test::sample_report();
    report.memory.fits = false;
    report.memory.footprint.activations = Bytes(1.18e3 * 0x1p50);
    const std::string text = text_of(report);
    CHECK(text.find("activations         1180 PiB") != std::string::npos);
    CHECK(text.find("PiB   15.5 G%") != std::string::npos);
    report.memory.footprint.activations = Bytes(1e12 * 0x1p50);
    CHECK(text_of(report).find("1.00e+12 PiB ") != std::string::npos);
  }

  TEST_CASE("a job that lacks little memory is told apart from one that fits") {
    Report report = test::sample_report();
    report.memory.fits = false;
    report.memory.footprint.activations = Bytes(7.001 * 0x1p30);
    CHECK(text_of(report).find("  of 8.000 GiB\n") != std::string::npos);
    CHECK(text_of(report).find("8.001 GiB") != std::string::npos);
  }
}

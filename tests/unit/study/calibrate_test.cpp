#include "study/calibrate.hpp"

#include <doctest/doctest.h>
#include <fstream>

#include "study/calibrate_rows.hpp"
#include "study/scaled_hardware.hpp"
#include "study/simulate.hpp"

using namespace gpuscale;

namespace {

const Library& library() {
  static const Library shipped({GPUSCALE_SOURCE_DIR});
  return shipped;
}

/// Measurements as an installation with these factors would make them.
std::vector<Measurement> made_with(const Calibration& truth, const std::vector<std::vector<Setting>>& jobs) {
  const MeasurementBase base = usual_base();
  std::vector<Measurement> measurements;
  for (const std::vector<Setting>& settings : jobs) {
    Measurement measurement{.name = settings.front().value, .scenario = base.file.resolve(library(), settings)};
    Scenario slow = measurement.scenario;
    slow.job.calibration = truth;
    measurement.step_time = simulate_step(slow).step_time;
    measurements.push_back(std::move(measurement));
  }
  return measurements;
}

std::vector<Setting> job(const char* model, const char* batch, const char* gpus = "1",
                         const char* gpu = "gtx-1080-ti") {
  return {{"workload.model", model}, {"workload.batch", batch}, {"cluster.gpu", gpu}, {"cluster.gpus", gpus}};
}

/// Some wait for kernels, some for exchanges (VGG on four cards), some for the host (small nets on a fast card).
std::vector<std::vector<Setting>> usual_jobs() {
  return {job("resnet50", "64 per gpu"),
          job("resnet50", "2 per gpu"),
          job("vgg16", "32 per gpu"),
          job("vgg16", "4 per gpu", "4"),
          job("vgg16", "8 per gpu", "4"),
          job("mobilenet-v2", "1 per gpu", "1", "v100-pcie"),
          job("mobilenet-v2", "2 per gpu", "1", "v100-pcie"),
          job("densenet121", "1 per gpu", "1", "v100-pcie")};
}

std::string problems_of(const std::string& text) {
  try {
    static_cast<void>(read_measurements(parse_csv(text, "m.csv"), usual_base(), library()));
  } catch (const ScenarioError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("one factor on computing is found from two measurements") {
    const std::vector<Measurement> measurements =
        made_with({.products = 1.3, .streams = 1.3}, {job("resnet50", "64 per gpu"), job("vgg16", "32 per gpu")});
    const CalibrationResult result = fit_calibration(measurements, 1);
    // The pull towards one takes 1.5 % of the logarithm.
    CHECK(result.factors.products == doctest::Approx(1.3).epsilon(0.01));
    CHECK(result.factors.streams == result.factors.products);
    CHECK(result.factors.host == 1.0);
    CHECK(result.error_before > 0.2);
    CHECK(result.error_after < 0.01);
    CHECK(result.tried[1].why == "left at 1: needs 2 more measurements");
  }

  TEST_CASE("a slow host and slow exchanges are told apart from slow kernels") {
    const CalibrationResult result =
        fit_calibration(made_with({.products = 1.2, .streams = 1.2, .host = 1.5, .exchange = 1.4}, usual_jobs()), 2);
    std::string whys;
    for (const FactorReport& tried : result.tried) whys += tried.name + ": " + tried.why + "\n";
    CAPTURE(whys);
    CHECK(result.factors.products == doctest::Approx(1.2).epsilon(0.05));
    CHECK(result.factors.host == doctest::Approx(1.5).epsilon(0.05));
    CHECK(result.factors.exchange == doctest::Approx(1.4).epsilon(0.05));
    CHECK(result.error_left_out < 0.05);
    CHECK(result.error_after < result.error_before / 4);
  }

  TEST_CASE("what measurements do not show stays at one") {
    const CalibrationResult result = fit_calibration(made_with({.products = 1.2, .streams = 1.2}, usual_jobs()), 2);
    CHECK(result.factors.host == doctest::Approx(1.0).epsilon(0.02));
    CHECK(result.factors.exchange == doctest::Approx(1.0).epsilon(0.02));
  }

  TEST_CASE("a factor with which the mean error grows is left at one and the reason told") {
    std::vector<Measurement> measurements = made_with({}, {job("resnet50", "64 per gpu"), job("vgg16", "32 per gpu"),
                                                           job("resnet50", "32 per gpu"), job("vgg16", "64 per gpu")});
    measurements.back().step_time = measurements.back().step_time * 3.0;  // one that something else slowed down
    const CalibrationResult result = fit_calibration(measurements, 1);
    CHECK(result.factors == Calibration{});
    CHECK(result.error_before == doctest::Approx(2.0 / 3.0 / 4.0).epsilon(1e-6));
    CHECK(result.error_after == result.error_before);
    REQUIRE(result.tried.front().name == "compute");
    CHECK_FALSE(result.tried.front().factor.has_value());
    CHECK(result.tried.front().why.find("the mean error grows from 16.7 % to ") != std::string::npos);
  }

  TEST_CASE("measurements that agree with the data files leave all factors at one") {
    const CalibrationResult result = fit_calibration(made_with({}, usual_jobs()), 2);
    CHECK(result.factors == Calibration{});
    for (const FactorReport& tried : result.tried) CHECK_FALSE(tried.factor.has_value());
  }

  TEST_CASE("the number of threads changes nothing") {
    const std::vector<Measurement> measurements = made_with({.products = 1.1, .streams = 1.4}, usual_jobs());
    CHECK(fit_calibration(measurements, 1).factors == fit_calibration(measurements, 4).factors);
  }

  TEST_CASE("too few measurements are refused with how many are missing") {
    const std::vector<Measurement> one = made_with({}, {job("resnet50", "64 per gpu")});
    CHECK_THROWS_WITH_AS(fit_calibration(one, 1), "error: 1 of 2 measurements is too few; add 1 more measurement",
                         ScenarioError);
    CHECK_THROWS_AS(fit_calibration({}, 1), ScenarioError);
  }

  TEST_CASE("a calibration that was written is read back by a scenario") {
    CalibrationResult result;
    result.factors = {.products = 1.25, .streams = 0.5, .host = 2, .exchange = 1.5};
    const MeasurementBase base = usual_base();
    const std::string yaml = to_yaml(result, "odd: 'name'.csv");
    const auto path = std::filesystem::temp_directory_path() / "gpuscale-calibration-test.yaml";
    std::ofstream(path) << yaml;
    std::vector<Setting> settings = job("resnet50", "8 per gpu");
    settings.push_back({"workload.calibrate", path.string()});
    CHECK(base.file.resolve(library(), settings).job.calibration == result.factors);
    std::filesystem::remove(path);
  }

  TEST_CASE("factors on time stretch each part of a step by themselves") {
    const MeasurementBase base = usual_base();
    Scenario scenario = base.file.resolve(library(), job("resnet50", "64 per gpu"));
    const Seconds compute = simulate_step(scenario).split.compute;
    scenario.job.calibration = {.products = 2, .streams = 2};
    CHECK(simulate_step(scenario).split.compute / compute == doctest::Approx(2.0).epsilon(1e-6));
    Scenario pair = base.file.resolve(
        library(),
        {{"workload", "{transfer: {numbers: 100000000}}"}, {"cluster.gpu", "gtx-1080-ti"}, {"cluster.gpus", "2"}});
    const Seconds alone = simulate_step(pair).step_time;
    pair.job.calibration = {.exchange = 1.5};
    CHECK(simulate_step(pair).step_time / alone == doctest::Approx(1.5).epsilon(1e-6));
  }

  TEST_CASE("a calibration reaches every cost of its kind") {
    Job job;
    ClusterSpec cluster;
    for (Seconds HostCost::*cost : kHostCosts) job.framework.host.*cost = 1_ms;
    job.framework.kernel_efficiency = 0.8;
    job.framework.attention_efficiency = 0.6;
    job.framework.transport.staged_least = 12_GBps;
    job.calibration = {.products = 2.0, .streams = 1.0, .host = 3.0, .exchange = 4.0};
    apply_calibration(job, cluster);
    for (Seconds HostCost::*cost : kHostCosts) CHECK(job.framework.host.*cost == 3_ms);
    CHECK(job.framework.kernel_efficiency == 0.4);
    CHECK(job.framework.attention_efficiency == 0.3);
    CHECK(job.framework.transport.staged_least == 3_GBps);
    CHECK(job.calibration == Calibration{});
  }

  TEST_CASE("rows become jobs and times by their columns") {
    const std::vector<Measurement> rows =
        read_measurements(parse_csv("name,gpu,model,batch,precision,gpus,machine,throughput,strategy.exchange.codec\n"
                                    "one,gtx-1080-ti,resnet50,64,,,,200,\n"
                                    ",gtx-1080-ti,resnet50,256 global,fp16,4,workstation-4x-pcie3-x8,800 /s,int8\n",
                                    "m.csv"),
                          usual_base(), library());
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].name == "one");
    CHECK(rows[0].step_time.count() == doctest::Approx(64.0 / 200).epsilon(1e-12));
    CHECK(rows[1].name == "line 3");
    CHECK(rows[1].step_time.count() == doctest::Approx(256.0 / 800).epsilon(1e-12));
    CHECK(rows[1].scenario.job.precision == Precision::fp16);
    CHECK(rows[1].scenario.job.parallel.exchange.codec == CodecKind::int8);
  }

  TEST_CASE("times are read with their units or in those of their column") {
    for (const char* column :
         {"step_time\ngtx-1080-ti,resnet50,64,250 ms", "step_time_ms\ngtx-1080-ti,resnet50,64,250",
          "step_time_s\ngtx-1080-ti,resnet50,64,0.25", "throughput_samples_per_s\ngtx-1080-ti,resnet50,64,256"}) {
      CAPTURE(column);
      const auto rows = read_measurements(parse_csv(std::string("gpu,model,batch,") + column + "\n", "m.csv"),
                                          usual_base(), library());
      REQUIRE(rows.size() == 1);
      CHECK(rows[0].step_time.count() == doctest::Approx(0.25).epsilon(1e-12));
    }
  }

  TEST_CASE("mistakes in a table are told at their cells and all at once") {
    const std::string text = problems_of(
        "gpu,model,batch,throughput\ngtx-1080ti,resnet50,64,190\n,resnet5,x,-3\ngtx-1080-ti,resnet50,64,\n");
    for (const char* part :
         {"m.csv:2:1: error: unknown GPU 'gtx-1080ti'; did you mean 'gtx-1080-ti'?", "m.csv:3:2: error: unknown model",
          "m.csv:3:10: error: 'x' is not a batch", "m.csv:3:12: error: '-3' is not",
          "the row does not say on which 'gpu'", "m.csv:4:25: error: the cell of 'throughput' is empty"}) {
      CHECK_MESSAGE(text.find(part) != std::string::npos, text);
    }
    CHECK(problems_of("gpu,modle,throughput\n").find("did you mean 'model'?") != std::string::npos);
    CHECK(problems_of("gpu,model\na,b\n").find("no column says what was measured") != std::string::npos);
    CHECK(problems_of("gpu,throughput,step_time\na,1,2 s\n").find("more than one column") != std::string::npos);
    CHECK(problems_of("gpu,model,batch,gpus,throughput\ngtx-1080-ti,resnet50,8,4,9\n").find("joined somehow") !=
          std::string::npos);
  }
}

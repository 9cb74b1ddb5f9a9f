#include "study/fit.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sstream>

#include "study/fit_output.hpp"
#include "study/fit_tables.hpp"

using namespace gpuscale;

namespace {

Fit fit_of(const std::vector<Setting>& settings) {
  const Library library({GPUSCALE_SOURCE_DIR});
  const ScenarioFile file =
      ScenarioFile::open(std::string(GPUSCALE_SOURCE_DIR) + "/workloads/scenarios/quickstart.yaml");
  return examine_fit(file, library, settings);
}

const MemoryChange* change_of(const Fit& fit, std::string_view path) {
  const auto found = std::ranges::find_if(
      fit.changes, [&](const MemoryChange& change) { return change.settings.front().path == path; });
  return found == fit.changes.end() ? nullptr : &*found;
}

}  // namespace

TEST_SUITE("study") {
  TEST_CASE("half the batch saves half the activations and errors and some workspace") {
    const Fit fit = fit_of({});
    CHECK(fit.report.memory.fits);
    const MemoryChange* half = change_of(fit, "workload.batch");
    REQUIRE(half != nullptr);
    const Footprint& before = fit.report.memory.footprint;
    // And what its convolutions' algorithms ask for less. Statistics of normalisation do not follow the batch.
    const Bytes workspace = before.workspace - half->report.memory.footprint.workspace;
    CHECK(half->saves(fit.report).count() ==
          doctest::Approx(((before.activations + before.errors) / 2.0 + workspace).count()).epsilon(1e-4));
  }

  TEST_CASE("changes stand in the order of what they save and each is worth naming") {
    const Fit fit = fit_of({});
    REQUIRE(fit.changes.size() >= 2);
    for (std::size_t i = 0; i < fit.changes.size(); ++i) {
      CAPTURE(fit.changes[i].what);
      CHECK(fit.changes[i].saves(fit.report) > fit.report.memory.footprint.total() * 0.005);
      if (i > 0) CHECK(fit.changes[i].saves(fit.report) <= fit.changes[i - 1].saves(fit.report));
    }
  }

  TEST_CASE("the largest batch that is named fits and one sample more does not") {
    const Fit fit = fit_of({{"workload.batch", "256 per gpu"}});
    CHECK_FALSE(fit.report.memory.fits);
    const double largest = fit.report.memory.largest_batch_per_gpu;
    const auto named = std::ranges::find_if(
        fit.changes, [](const MemoryChange& change) { return change.what.starts_with("largest batch"); });
    REQUIRE(named != fit.changes.end());
    CHECK(named->report.memory.fits);
    CHECK(named->report.batch_per_gpu == largest);
    CHECK_FALSE(
        fit_of({{"workload.batch", std::to_string(static_cast<int>(largest) + 1) + " per gpu"}}).report.memory.fits);
  }

  TEST_CASE("the card that is named is the smallest of its kind that is large enough") {
    const Fit fit = fit_of({{"workload.batch", "256 per gpu"}});
    const MemoryChange* card = change_of(fit, "cluster.gpu");
    REQUIRE(card != nullptr);
    CHECK(card->report.memory.fits);
    // The job needs 23.1 GiB: the shipped cards for a slot with 24 GiB are the smallest.
    CHECK(card->report.memory.capacity == 24_GiB);
    CHECK(fit_of({}).report.memory.fits);
    CHECK(change_of(fit_of({}), "cluster.gpu") == nullptr);
  }

  TEST_CASE("what is named can be acted on: no other framework and no card older than the job's") {
    const Library library({GPUSCALE_SOURCE_DIR});
    const ScenarioFile file =
        ScenarioFile::open(std::string(GPUSCALE_SOURCE_DIR) + "/workloads/scenarios/quickstart.yaml");
    // 11.5 GiB: boards of 12 GiB that were sold before the GTX 1080 Ti have room, too.
    for (const char* batch : {"120 per gpu", "256 per gpu"}) {
      CAPTURE(batch);
      const Fit fit = fit_of({{"workload.batch", batch}});
      CHECK(change_of(fit, "framework") == nullptr);
      const MemoryChange* card = change_of(fit, "cluster.gpu");
      REQUIRE(card != nullptr);
      const Gpu asked = file.resolve(library, {}).cluster.gpu;
      const Gpu named = file.resolve(library, card->settings).cluster.gpu;
      CHECK(named.launched >= asked.launched);
    }
  }

  TEST_CASE("each change states what it saves and a larger card that it saves nothing") {
    const Fit fit = fit_of({{"workload.batch", "256 per gpu"}});
    const std::vector<TextColumn> columns = change_columns(fit);
    CHECK(columns[2].title == "saves");
    for (std::size_t i = 0; i < fit.changes.size(); ++i) {
      CAPTURE(fit.changes[i].what);
      const bool card = fit.changes[i].settings.front().path == "cluster.gpu";
      CHECK((columns[2].cells[i] == "-") == card);
      CHECK((columns[2].cells[i].find("GiB, ") != std::string::npos ||
             columns[2].cells[i].find("MiB, ") != std::string::npos) == !card);
    }
  }

  TEST_CASE("changes are put together where none alone is enough") {
    const Fit fit = fit_of({{"workload.batch", "1024 global"}, {"cluster.gpu", "rtx-2060"}});
    CHECK_FALSE(fit.report.memory.fits);
    const MemoryChange* way = best_way_to_fit(fit);
    REQUIRE(way != nullptr);
    CHECK(way->report.memory.fits);
    CHECK(way->settings.front().path != "cluster.gpu");
  }

  TEST_CASE("a transfer has no memory to look at") {
    CHECK_THROWS_AS(fit_of({{"workload", "{transfer: {numbers: 1000}}"}}), ScenarioError);
  }

  TEST_CASE("options are written as a shell takes them") {
    CHECK(as_options({{"workload.batch", "32 per gpu"}, {"strategy.zero", "2"}}) ==
          "--set workload.batch='32 per gpu' --set strategy.zero=2");
  }

  TEST_CASE("JSON and CSV carry every cause and every change") {
    const std::vector<Fit> fits = {fit_of({{"workload.batch", "256 per gpu"}})};
    std::ostringstream json;
    write_json(json, fits);
    const nlohmann::json document = nlohmann::json::parse(json.str());
    const nlohmann::json& point = document["points"][0];
    CHECK(point["memory"]["fits"] == false);
    CHECK(point["changes"].size() == fits[0].changes.size());
    for (std::size_t i = 0; i < fits[0].changes.size(); ++i) {
      CHECK(point["changes"][i]["options"] == as_options(fits[0].changes[i].settings));
      for (const auto& [key, value] : point["changes"][i]["settings"].items())
        if (key == "strategy.zero") CHECK(value.is_number());  // as in the document of a run
    }
    CHECK(point["fits_with_options"] == as_options(best_way_to_fit(fits[0])->settings));
    CHECK(point["changes"][0]["saves_bytes"] == std::llround(fits[0].changes[0].saves(fits[0].report).count()));
    double sum = 0;
    for (const char* key : {"parameters", "master_weights", "gradients", "optimizer", "activations", "errors",
                            "workspace", "exchange", "framework"}) {
      sum += point["memory"][key].get<double>();
    }
    CHECK(sum == doctest::Approx(point["memory"]["total"].get<double>()).epsilon(1e-9));
    std::ostringstream csv;
    write_csv(csv, fits);
    const std::string text = csv.str();
    CHECK(std::ranges::count(text, '\n') == std::ssize(fits[0].changes) + 2);
  }
}

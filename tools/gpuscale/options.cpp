#include "options.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>
#include <thread>

#include "output.hpp"
#include "study/axis_text.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale::tool {

namespace {

constexpr std::array<std::string_view, 4> kFormats = {"table", "json", "csv", "md"};  // in the order of Format
constexpr int kMostJobs = 1024;

std::string why_useless(const std::filesystem::path& folder) {
  std::error_code error;
  if (!std::filesystem::exists(folder, error)) return "does not exist";
  if (!std::filesystem::is_directory(folder, error)) return "is not a folder";
  return "has no topologies/ and no workloads/";
}

std::string no_data_text(const Library& library) {
  std::vector<std::string> searched;
  for (const std::filesystem::path& folder : library.searched()) searched.push_back(folder.string());
  return fmt::format(
      "no data files: no folder has topologies/ or workloads/ among {}; set GPUSCALE_PATH to the one "
      "that has, as in GPUSCALE_PATH=/path/to/gpuscale",
      fmt::join(searched, ", "));
}

}  // namespace

Format read_format(const std::string& word) {
  const auto found = std::ranges::find(kFormats, word);
  if (found == kFormats.end()) {
    throw UsageError(
        fmt::format("{} is no format; write table, json, csv or md{}", in_quotes(word), did_you_mean(word, kFormats)));
  }
  return static_cast<Format>(found - kFormats.begin());
}

void OutputOptions::add_to(ArgumentParser& parser) {
  parser.value("format,f", "FORMAT", format, "table (default), json, csv or md");
  parser.value("output,o", "FILE", output, "write the result there instead of stdout");
  parser.flag("quiet,q", quiet, "no notes and no progress on stderr");
  parser.flag("verbose,v", verbose, "name every link, layer and data file, in JSON too");
}

void OutputOptions::note(const std::string& text) const {
  if (!quiet) say(text);
}

void ScenarioOptions::add_to(ArgumentParser& parser) {
  parser.list("set,s", "PATH=VALUE", set, "set a key of the scenario, as in --set cluster.gpus=4; may be repeated");
  parser.list("assert", "CONDITION", conditions,
              "exit with code 5 unless the report meets it, as in --assert 'speedup >= 3.4'; may be repeated");
  parser.flag("no-fold", no_fold,
              "simulate every GPU, also those that are alike: the same result, later; as --set strategy.fold=false");
}

std::vector<Setting> ScenarioOptions::settings() const {
  std::vector<Setting> settings;
  for (const std::string& text : set) {
    settings.push_back(usage_checked([&] { return read_setting(text); }));
  }
  if (no_fold) settings.push_back({"strategy.fold", "false"});
  return settings;
}

std::vector<Assertion> ScenarioOptions::assertions() const {
  std::vector<Assertion> assertions;
  for (const std::string& text : conditions) {
    assertions.push_back(usage_checked([&] { return read_assertion(text); }));
  }
  return assertions;
}

bool all_hold(const std::vector<Assertion>& assertions, const Report& report, const std::string& name) {
  bool hold = true;
  for (const Assertion& assertion : assertions) {
    const std::string wrong = violation(assertion, report);
    if (wrong.empty()) continue;
    say(name.empty() ? wrong : fmt::format("{} (at {})", wrong, name));
    hold = false;
  }
  return hold;
}

void JobsOption::add_to(ArgumentParser& parser) {
  parser.value("jobs,j", "N", jobs, "simulate N points at a time, 1 to 1024 (default: one per processor)");
}

int JobsOption::count() const {
  if (jobs && (*jobs < 1 || *jobs > kMostJobs)) {
    throw UsageError(fmt::format("--jobs is a number from 1 to {}, not {}", kMostJobs, *jobs));
  }
  if (jobs) return *jobs;
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, static_cast<unsigned>(kMostJobs)));
}

Library open_library(const Invocation& invocation) {
  Library library = Library::standard(invocation.program);
  for (const std::filesystem::path& folder : library.useless()) {
    say(fmt::format("warning: {} in GPUSCALE_PATH {}", in_quotes(folder.string()), why_useless(folder)));
  }
  if (library.roots().empty()) throw ScenarioError({{{}, no_data_text(library)}});
  return library;
}

}  // namespace gpuscale::tool

#include "report/limits.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace gpuscale {

namespace {

constexpr double kWorthNaming = 0.10;  // of the step; below it compute alone is the answer

double share(const Report& report, Seconds part) { return part / report.step_time; }

std::string exchange_in_words(const Report& report) {
  std::string text = fmt::format("the exchange: {:.0f} % of the step waits for it",
                                 100 * share(report, report.split.exchange_exposed));
  if (!report.links.empty()) {
    text += fmt::format("; busiest is {} at {:.0f} %", report.links.front().name, 100 * report.links.front().load);
  }
  return text;
}

}  // namespace

std::string limit_in_words(const Report& report) {
  const StepSplit& split = report.split;
  const std::array<Seconds, 4> parts = {split.exchange_exposed, split.host, split.input, split.bubble};
  const auto largest = std::ranges::max_element(parts);
  if (share(report, *largest) < kWorthNaming) {
    return fmt::format("GPU compute: {:.0f} % of the step", 100 * share(report, split.compute));
  }
  switch (largest - parts.begin()) {
    case 0:
      return exchange_in_words(report);
    case 1:
      return fmt::format("the host: {:.0f} % of the step the GPUs wait for work to be issued",
                         100 * share(report, split.host));
    case 2:
      return fmt::format("the input pipeline: {:.0f} % of the step is spent on preparing samples",
                         100 * share(report, split.input));
    default:
      return fmt::format("idle GPUs: {:.0f} % of the step", 100 * share(report, split.bubble));
  }
}

std::vector<std::string> not_modelled(const Job& job, const ClusterSpec& spec) {
  std::vector<std::string> left_out = {"spread between steps and ranks (stragglers)"};
  if (job.transfer) return left_out;
  if (!job.input) left_out.emplace_back("reading and preparing samples (no input: in the scenario)");
  left_out.emplace_back("copies of the batch to the GPUs");
  left_out.emplace_back("clocks that fall when cards get hot");
  if (spec.nodes > 1) left_out.emplace_back("other traffic on the network");
  return left_out;
}

}  // namespace gpuscale

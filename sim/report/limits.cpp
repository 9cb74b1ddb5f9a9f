#include "report/limits.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "execution/timeline.hpp"

namespace gpuscale {

namespace {

constexpr double kWorthNaming = 0.10;  // of the step; below it the largest part alone is the answer

struct Part {
  Seconds time;
  std::string_view alone;   ///< what it is, when it is the largest part
  std::string_view beside;  ///< the same, when another part is larger
};

double percent(const Report& report, Seconds part) { return 100.0 * (part / report.step_time); }

/// Where exchanges spend their time: most of it in work beside sending, such as messages of a parameter server, or else
/// on links.
std::string where_exchanged(const Report& report) {
  for (const ExchangeReport& exchange : report.exchanges) {
    const bool is_work = exchange.uncompressed.count() <= 0 && exchange.purpose != kSlowedCompute;
    if (is_work && exchange.exposed > 0.5 * report.split.exchange_exposed)
      return fmt::format("; most of that {}", exchange.purpose);
  }
  if (report.links.empty()) return {};
  return fmt::format("; busiest link {} at {:.0f} %", report.links.front().name, 100 * report.links.front().load);
}

/// The kind of GPU that others wait for, where one computes clearly longer.
std::string slowest_card(const Report& report) {
  constexpr double kClearly = 0.95;
  if (report.cards.empty()) return {};
  const auto [least, most] = std::ranges::minmax_element(report.cards, {}, &CardReport::compute);
  return least->compute < most->compute * kClearly ? fmt::format("; the others wait for the {}", most->gpu) : "";
}

}  // namespace

std::string limit_in_words(const Report& report) {
  const StepSplit& split = report.split;
  std::array<Part, 6> parts = {
      {{split.compute, "GPU compute", "GPU compute"},
       {split.exchange_exposed, "exchanges that nothing hides", "exposed exchanges"},
       {split.host, "the host, which issues work more slowly than the GPU does it", "the host"},
       {split.input, "the input pipeline", "the input pipeline"},
       {split.bubble, "GPUs without work", "GPUs without work"},
       {split.jitter, "waiting for the slowest GPU", "waiting for the slowest GPU"}}};
  const Seconds exchange = split.exchange_exposed;
  std::ranges::stable_sort(parts, std::ranges::greater(), &Part::time);
  std::string text = fmt::format("{}: {:.0f} % of the step", parts[0].alone, percent(report, parts[0].time));
  if (percent(report, parts[1].time) >= 100 * kWorthNaming) {
    text += fmt::format(", {} {:.0f} %", parts[1].beside, percent(report, parts[1].time));
  }
  if (parts[0].time == split.compute) text += slowest_card(report);
  return percent(report, exchange) >= 100 * kWorthNaming ? text + where_exchanged(report) : text;
}

std::vector<std::string> not_modelled(const Job& job, const ClusterSpec& spec) {
  if (job.transfer) {
    return spec.background.empty() ? std::vector<std::string>{"other traffic on the links"}
                                   : std::vector<std::string>{};
  }
  std::vector<std::string> left_out = {"cards that are broken or far slower than others of their kind"};
  const bool fed = job.framework.feed.has_value();
  if (!job.input) left_out.emplace_back("reading and preparing samples (no input: in the scenario)");
  if (!job.input && !fed) left_out.emplace_back("copies of the batch to the GPUs (no input: in the scenario)");
  if (!spec.cooling) left_out.emplace_back("clocks that fall when cards get hot (no cooling: in the cluster)");
  if (job.parallel.asynchronous || job.parallel.exchange.delayed)
    left_out.emplace_back("steps more that training on old parameters takes: this is throughput only");
  if (spec.nodes > 1 && spec.background.empty()) left_out.emplace_back("other traffic on the network");
  return left_out;
}

}  // namespace gpuscale

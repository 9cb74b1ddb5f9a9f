#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace gpuscale::fit {

namespace {

constexpr double kPercent = 100.0;

/// Mean of |ratio - 1| in percent.
struct Mean {
  double sum = 0.0;
  int count = 0;

  void add(double ratio) {
    sum += std::abs(ratio - 1.0);
    ++count;
  }
  [[nodiscard]] double percent() const { return count > 0 ? kPercent * sum / count : 0.0; }
};

std::string group_of(const Sample& sample) {
  return fmt::format("{}, {} units", sample.class_name, sample.matrix ? "matrix" : "vector");
}

bool is_of(const Sample& sample, const Family& family) { return sample.kernel.gpu.family.id == family.id; }

/// Constants that kernels decide back at what nobody knows better; the others as they are.
Family unfitted(const Family& start, const std::vector<Sample>& samples, std::span<const std::string_view> hold) {
  Family family = start;
  const Family defaults;
  for (const Stage& stage : stages()) {
    if (of_stage(samples, stage, start.id).empty()) continue;
    for (const Constant* constant : named(stage.constants)) {
      const bool switched_off = value_of(*constant, start) == 0.0 || value_of(*constant, defaults) == 0.0;
      if (switched_off || names(hold, constant->path)) continue;
      set_value(*constant, family, value_of(*constant, defaults));
    }
  }
  return family;
}

double total_distance(const std::vector<Sample>& samples, const Family& family) {
  Samples all;
  for (const Sample& sample : samples) {
    if (is_of(sample, family)) all.push_back(&sample);
  }
  return distance(all, family);
}

}  // namespace

void print_errors(const std::vector<Sample>& samples, const Family& before, const Family& after) {
  struct Errors {
    Mean roofline;
    Mean before;
    Mean after;
    double bias = 0.0;
  };
  std::map<std::string, Errors> groups;
  for (const Sample& sample : samples) {
    if (!is_of(sample, after)) continue;
    Errors& errors = groups[group_of(sample)];
    const double ours = ratio(sample, after);
    errors.roofline.add(roofline_time(sample.kernel) / sample.measured);
    errors.before.add(ratio(sample, before));
    errors.after.add(ours);
    errors.bias += std::log(ours);
  }
  fmt::print("{}: mean error of kernels, %\n  {:<44} {:>5} {:>9} {:>7} {:>7} {:>7}\n", after.id, "class", "rows",
             "roofline", "before", "after", "bias");
  for (const auto& [name, errors] : groups) {
    const double bias = std::exp(errors.bias / errors.after.count) - 1.0;
    fmt::print("  {:<44} {:>5} {:>9.1f} {:>7.1f} {:>7.1f} {:>+7.1f}\n", name, errors.after.count,
               errors.roofline.percent(), errors.before.percent(), errors.after.percent(), kPercent * bias);
  }
}

void print_leave_one_out(const std::vector<Sample>& samples, const Family& start, const Family& fitted,
                         std::span<const std::string_view> hold) {
  std::set<std::string> cards;
  for (const Sample& sample : samples) {
    if (is_of(sample, start)) cards.insert(sample.kernel.gpu.id);
  }
  if (cards.size() < 2) {
    fmt::print("{}: one card, nothing to leave out\n", start.id);
    return;
  }
  fmt::print("{}: mean error on a card that the fit has not seen, %\n  {:<26} {:<44} {:>7} {:>7}\n", start.id, "card",
             "class", "with", "without");
  for (const std::string& card : cards) {
    std::vector<Sample> others;
    std::ranges::copy_if(samples, std::back_inserter(others),
                         [&](const Sample& sample) { return sample.kernel.gpu.id != card; });
    Family blind = fit_stages(unfitted(start, others, hold), others, hold);
    const Family again = fit_stages(start, others, hold);
    if (total_distance(others, again) < total_distance(others, blind)) blind = again;
    std::map<std::string, std::pair<Mean, Mean>> groups;
    for (const Sample& sample : samples) {
      if (sample.kernel.gpu.id != card) continue;
      auto& [with, without] = groups[group_of(sample)];
      with.add(ratio(sample, fitted));
      without.add(ratio(sample, blind));
    }
    for (const auto& [name, errors] : groups) {
      fmt::print("  {:<26} {:<44} {:>7.1f} {:>7.1f}\n", card, name, errors.first.percent(), errors.second.percent());
    }
  }
}

void print_steps(const Steps& steps, const Family& before, const Family& after) {
  if (steps.empty()) return;
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> groups;
  for (const Step* step : steps) {
    groups[step->what].first.push_back(ratio(*step, before));
    groups[step->what].second.push_back(ratio(*step, after));
  }
  const auto median = [](std::vector<double>& ratios) {
    std::ranges::sort(ratios);
    return ratios[ratios.size() / 2];
  };
  fmt::print("{}: steps of networks on one card, median of model / measured\n  {:<56} {:>5} {:>7} {:>7}\n", after.id,
             "what", "rows", "before", "after");
  for (auto& [what, ratios] : groups) {
    fmt::print("  {:<56} {:>5} {:>7.2f} {:>7.2f}\n", what, ratios.first.size(), median(ratios.first),
               median(ratios.second));
  }
}

void print_changes(const Family& before, const Family& after) {
  for (const Constant& constant : constants()) {
    const double old = value_of(constant, before);
    const double now = value_of(constant, after);
    if (old != now) fmt::print("  {:<44} {:>10.4g} -> {:.4g}\n", constant.path, old, now);
  }
}

}  // namespace gpuscale::fit

#include "study/sweep_problems.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>
#include <utility>

namespace gpuscale {

namespace {

std::string settings_text(const Point& point) {
  std::string text;
  for (const Setting& setting : point) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ", ", setting.path, setting.value);
  }
  return text;
}

std::string with_point(const std::string& text, const Point& point, std::size_t others) {
  std::string more;
  if (others > 0) more = fmt::format(", and at {} more point{}", others, others == 1 ? "" : "s");
  return fmt::format("{} (at {}{})", text, settings_text(point), more);
}

struct Seen {
  Problem problem;
  std::vector<std::size_t> points;
};

}  // namespace

std::vector<Problem> merge_problems(std::span<const PointProblem> problems, std::span<const Point> points) {
  std::vector<Seen> seen;
  std::map<std::string, std::size_t> index;  // by the problem's text
  for (const PointProblem& found : problems) {
    const auto [place, is_new] = index.try_emplace(to_text(found.problem), seen.size());
    if (is_new) seen.push_back({found.problem, {}});
    std::vector<std::size_t>& at = seen[place->second].points;
    if (at.empty() || at.back() != found.point) at.push_back(found.point);
  }
  std::vector<Problem> merged;
  for (Seen& one : seen) {
    const bool everywhere = one.points.size() == points.size();
    const Point& first = points[one.points.front()];
    if (!everywhere && !first.empty()) {
      one.problem.text = with_point(one.problem.text, first, one.points.size() - 1);
    }
    merged.push_back(std::move(one.problem));
  }
  return merged;
}

}  // namespace gpuscale

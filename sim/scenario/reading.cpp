#include "scenario/reading.hpp"

#include <algorithm>

namespace gpuscale {

void Reading::note(Place place, std::string text) {
  constexpr std::size_t kMostProblems = 100;
  if (problems_.size() < kMostProblems) {
    Problem problem{std::move(place), std::move(text)};
    // A data file that is named twice shows its problems once.
    if (std::ranges::find(problems_, problem) == problems_.end()) problems_.push_back(std::move(problem));
  } else if (problems_.size() == kMostProblems) {
    problems_.push_back({{}, "more problems follow; these are the first 100"});
  }
}

void Reading::note(std::vector<Problem> problems) {
  for (Problem& problem : problems) note(std::move(problem.place), std::move(problem.text));
}

void Reading::used(std::string provenance) {
  if (std::ranges::find(provenance_, provenance) == provenance_.end()) provenance_.push_back(std::move(provenance));
}

Place Reading::place_of(std::string_view path) const {
  for (;;) {
    if (const auto found = places_.find(path); found != places_.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) break;
    path = path.substr(0, dot);
  }
  const auto root = places_.find("");
  return root == places_.end() ? Place{} : root->second;
}

std::string one_of(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace gpuscale

#include "units/diagnostic.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace gpuscale {

namespace {

std::string all_texts(const std::vector<Problem>& problems) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += '\n';
    text += to_text(problem);
  }
  return text;
}

std::vector<Problem> in_order(std::vector<Problem> problems) {
  std::ranges::stable_sort(problems, [](const Problem& a, const Problem& b) {
    if (a.place.file != b.place.file) return false;
    return a.place.line != b.place.line ? a.place.line < b.place.line : a.place.column < b.place.column;
  });
  return problems;
}

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

/// Restricted Damerau-Levenshtein distance, three rows at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> previous(b.size() + 1);
  std::vector<std::size_t> current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string to_text(const Problem& problem) {
  std::string text = problem.place.file;
  if (problem.place.line > 0) {
    text += ':' + std::to_string(problem.place.line) + ':' + std::to_string(std::max(problem.place.column, 1));
  }
  if (!text.empty()) text += ": ";
  return text + "error: " + problem.text;
}

ScenarioError::ScenarioError(std::vector<Problem> problems)
    : std::runtime_error(all_texts(in_order(problems))), problems_(in_order(std::move(problems))) {}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kLongestWord = 64;  // longer words are no misspelling, and the search is quadratic
  if (word.empty() || word.size() > kLongestWord) return {};
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates) {
  constexpr std::size_t kMostNames = 3;
  std::vector<std::string_view> longer;  // the word is the beginning of a name: a100 of a100-sxm-80gb
  for (const std::string_view candidate : candidates) {
    const bool begins = !word.empty() && candidate.size() > word.size() && candidate[word.size()] == '-' &&
                        edit_distance(word, candidate.substr(0, word.size())) == 0;
    if (begins && longer.size() < kMostNames) longer.push_back(candidate);
  }
  if (longer.empty()) {
    if (const std::string_view best = nearest(word, candidates); !best.empty()) longer.push_back(best);
  }
  std::string names;
  for (std::size_t i = 0; i < longer.size(); ++i) {
    if (i > 0) names += i + 1 < longer.size() ? ", " : " or ";
    names += "'" + std::string(longer[i]) + "'";
  }
  return names.empty() ? names : "; did you mean " + names + "?";
}

}  // namespace gpuscale

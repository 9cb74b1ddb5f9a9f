#pragma once

/// \file
/// What a user got wrong: a place, a text and a way out. Readers collect every problem of an input
/// before they give up, so one run shows them all.

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace gpuscale {

/// Where in an input something stands. Lines and columns count from 1; 0 means the file as a whole.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;

  bool operator==(const Place&) const = default;
};

struct Problem {
  Place place;
  std::string text;  ///< what is wrong and what to do about it, one line

  bool operator==(const Problem&) const = default;
};

/// `file:line:column: error: text`, without the parts of the place that are not known.
std::string to_text(const Problem& problem);

/// Thrown when an input cannot be used; carries every problem found, in the order of their places.
class ScenarioError : public std::runtime_error {
 public:
  explicit ScenarioError(std::vector<Problem> problems);
  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }

 private:
  std::vector<Problem> problems_;
};

/// The candidate nearest to a misspelt word, or an empty string if none is near: within a third of
/// the word's length in edits (insert, delete, replace, swap of neighbours), case ignored.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// "; did you mean 'nearest'?", up to three names that the word is the first part of ("a100" of "a100-sxm-80gb"), or an
/// empty string.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace gpuscale

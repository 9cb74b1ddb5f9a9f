#pragma once

/// \file
/// What one reading of a scenario carries along, and the words its messages share.

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/library.hpp"
#include "units/diagnostic.hpp"

namespace gpuscale {

/// Problems and provenance of one reading.
class Reading {
 public:
  explicit Reading(const Library& library) : library_(&library) {}

  /// Notes a problem; after the first hundred, further ones are only counted.
  void note(Place place, std::string text);
  void note(std::vector<Problem> problems);

  [[nodiscard]] const std::vector<Problem>& problems() const { return problems_; }
  [[nodiscard]] const Library& library() const { return *library_; }

  /// Notes a data file that was used, once.
  void used(std::string provenance);
  [[nodiscard]] const std::vector<std::string>& provenance() const { return provenance_; }

  /// Where the value of a key was found, so that checks across keys can point at it: the place of
  /// the key itself, or of the nearest map above it.
  void found(std::string path, Place place) { places_.insert_or_assign(std::move(path), std::move(place)); }
  [[nodiscard]] Place place_of(std::string_view path) const;
  [[nodiscard]] bool has(std::string_view path) const { return places_.contains(path); }

  /// Every path a reader asked for, if somebody wants to know (the test of the schema does).
  std::set<std::string>* asked = nullptr;

 private:
  const Library* library_;
  std::vector<Problem> problems_;
  std::vector<std::string> provenance_;
  std::map<std::string, Place, std::less<>> places_;
};

/// "a, b or c".
std::string one_of(std::span<const std::string_view> words);

}  // namespace gpuscale

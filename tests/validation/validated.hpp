#pragma once

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "scenario/validation_rule.hpp"
#include "study/validate.hpp"
#include "study/validate_output.hpp"

namespace gpuscale::test {

inline const Library& shipped_library() {
  static const Library library({std::filesystem::path(GPUSCALE_SOURCE_DIR)});
  return library;
}

inline std::filesystem::path rules_folder() {
  return std::filesystem::path(GPUSCALE_SOURCE_DIR) / "tests" / "validation" / "rules";
}

inline Validation validated(const std::vector<ValidationRule>& rules, int jobs = 2) {
  return validate(rules, shipped_library(), {.families = {}, .jobs = jobs, .on_done = {}, .stop = nullptr});
}

/// The rows of one rule, simulated.
inline Validation validated(const std::string& rule, int jobs = 2) {
  return validated(std::vector{read_validation_rule(rules_folder() / (rule + ".yaml"), shipped_library())}, jobs);
}

/// The same, with the table on standard output.
inline Validation printed(const std::string& rule) {
  Validation validation = validated(rule);
  write_text(std::cout, validation, {.colour = false, .verbose = false, .width = 120});
  return validation;
}

}  // namespace gpuscale::test

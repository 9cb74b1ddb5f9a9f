#include "study/axis_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <string>

#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Where the next value of a list ends: at a comma outside brackets and quotation marks.
std::size_t end_of_value(std::string_view text) {
  int depth = 0;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == '\\' && quote == '"') ++i;
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      return i;
    }
  }
  return text.size();
}

std::vector<std::string> split_values(std::string_view text) {
  std::vector<std::string> values;
  while (true) {
    const std::size_t end = end_of_value(text);
    values.emplace_back(trimmed(text.substr(0, end)));
    if (end >= text.size()) return values;
    text.remove_prefix(end + 1);
  }
}

/// A single pair of brackets around everything is the list itself, as in a file.
std::string_view without_brackets(std::string_view text) {
  const bool bracketed = text.starts_with('[') && text.ends_with(']') && end_of_value(text) == text.size();
  if (!bracketed) return text;
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '[' ? 1 : text[i] == ']' ? -1 : 0;
    if (depth == 0) return text;  // "[1][2]" is no list
  }
  return trimmed(text.substr(1, text.size() - 2));
}

/// Whether a value at `path` has the one at `other` inside.
bool is_above(std::string_view path, std::string_view other) {
  return other.size() > path.size() && other.starts_with(path) && other[path.size()] == '.';
}

void check_pair(const SweepAxis& axis, const SweepAxis& later) {
  if (axis.path == later.path) {
    throw std::invalid_argument(
        fmt::format("--sweep {0} is given twice; write all values in one, as in --sweep "
                    "{0}={1},{2}",
                    axis.path, axis.values.front(), later.values.front()));
  }
  if (is_above(later.path, axis.path)) {
    throw std::invalid_argument(
        fmt::format("--sweep {0} would undo --sweep {1}, which is below it; give --sweep {1} "
                    "last",
                    later.path, axis.path));
  }
}

}  // namespace

Setting read_setting(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view path = trimmed(text.substr(0, equals));
  if (equals == std::string_view::npos || path.empty()) {
    throw std::invalid_argument(
        fmt::format("{} is not a setting; write path=value, such as cluster.gpus=4", in_quotes(text)));
  }
  return {std::string(path), std::string(trimmed(text.substr(equals + 1)))};
}

SweepAxis read_axis(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view path = trimmed(text.substr(0, equals));
  if (equals == std::string_view::npos || path.empty()) {
    throw std::invalid_argument(
        fmt::format("{} is not an axis; write path=value,value,..., such as cluster.gpus=1,2,4", in_quotes(text)));
  }
  SweepAxis axis{std::string(path), split_values(without_brackets(trimmed(text.substr(equals + 1)))),
                 Place{fmt::format("--sweep {}", path), 0, 0}};
  if (std::ranges::find(axis.values, std::string()) != axis.values.end()) {
    throw std::invalid_argument(fmt::format("{} has an empty value; write path=value,value,...", in_quotes(text)));
  }
  return axis;
}

void check_axes(const std::vector<SweepAxis>& swept, const std::vector<Setting>& set) {
  for (auto axis = swept.begin(); axis != swept.end(); ++axis) {
    for (auto later = axis + 1; later != swept.end(); ++later) check_pair(*axis, *later);
    for (const Setting& setting : set) {
      if (setting.path == axis->path) {
        throw std::invalid_argument(fmt::format("{} is both set and swept; take --set {}={} or the --sweep out",
                                                axis->path, setting.path, setting.value));
      }
      if (is_above(axis->path, setting.path)) {
        throw std::invalid_argument(
            fmt::format("--sweep {} would undo --set {} at every point; write it in the "
                        "values of the sweep",
                        axis->path, setting.path));
      }
    }
  }
}

std::vector<SweepAxis> without_set_axes(std::vector<SweepAxis> file, const std::vector<Setting>& set,
                                        std::vector<Setting>& removed) {
  for (const Setting& setting : set) {
    const auto is_set = [&](const SweepAxis& axis) { return axis.path == setting.path; };
    if (std::erase_if(file, is_set) > 0) removed.push_back(setting);
    for (const SweepAxis& axis : file) {
      if (!is_above(axis.path, setting.path)) continue;
      throw std::invalid_argument(
          fmt::format("the file sweeps {0}, which would undo --set {1} at every point; give "
                      "the values with --sweep {0}=... or set {0} as a whole",
                      axis.path, setting.path));
    }
  }
  return file;
}

std::vector<SweepAxis> merge_axes(std::vector<SweepAxis> file, const std::vector<SweepAxis>& command_line) {
  for (const SweepAxis& axis : command_line) {
    const auto same = std::ranges::find(file, axis.path, &SweepAxis::path);
    if (same != file.end()) {
      *same = axis;
    } else {
      file.push_back(axis);
    }
  }
  return file;
}

}  // namespace gpuscale

#include "report/settings.hpp"

#include <algorithm>
#include <unordered_set>

namespace gpuscale {

namespace {

/// The last `parts` parts of a path.
std::string_view tail(std::string_view path, int parts) {
  std::size_t start = path.size();
  for (; parts > 0 && start > 0; --parts) {
    const std::size_t dot = path.rfind('.', start - 1);
    if (dot == std::string_view::npos || dot == 0) return path;
    start = dot;
  }
  return path.substr(start + 1);
}

}  // namespace

std::vector<std::string> setting_keys(std::span<const Report> reports) {
  std::vector<std::string> keys;
  for (const Report& report : reports) {
    for (const auto& [key, value] : report.settings) {
      if (std::ranges::find(keys, key) == keys.end()) keys.push_back(key);
    }
  }
  return keys;
}

std::string setting_of(const Report& report, std::string_view key) {
  // The last one wins, as it does when settings are applied.
  for (auto setting = report.settings.rbegin(); setting != report.settings.rend(); ++setting) {
    if (setting->first == key) return setting->second;
  }
  return {};
}

std::vector<std::string> setting_values(std::span<const Report> reports, std::string_view key) {
  std::vector<std::string> values;
  std::unordered_set<std::string> seen;
  for (const Report& report : reports) {
    std::string value = setting_of(report, key);
    if (seen.insert(value).second) values.push_back(std::move(value));
  }
  return values;
}

std::vector<std::string> short_names(std::span<const std::string> keys) {
  std::vector<std::string> names;
  for (const std::string& key : keys) {
    int parts = 1;
    const auto shared = [&] {
      return std::ranges::count_if(
                 keys, [&](const std::string& other) { return tail(other, parts) == tail(key, parts); }) > 1;
    };
    while (tail(key, parts) != key && shared()) ++parts;
    names.emplace_back(tail(key, parts));
  }
  return names;
}

}  // namespace gpuscale

#include "collective/pattern.hpp"

namespace gpuscale {

Pattern line_of(const std::vector<std::size_t>& ranks) {
  Pattern pattern{.channels = {{}}};
  for (std::size_t i = 0; i + 1 < ranks.size(); ++i) {
    pattern.channels.front().push_back({.from = ranks[i], .to = ranks[i + 1]});
  }
  return pattern;
}

Pattern all_pairs(std::size_t ranks) {
  Pattern pattern{.channels = {{}}};
  for (std::size_t from = 0; from < ranks; ++from) {
    for (std::size_t to = 0; to < ranks; ++to) {
      if (from != to) pattern.channels.front().push_back({.from = from, .to = to});
    }
  }
  return pattern;
}

}  // namespace gpuscale

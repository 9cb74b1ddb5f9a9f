#include "study/strategies.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <stdexcept>

#include "collective/codec.hpp"
#include "collective/exchange.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::array<std::string_view, 3> kSplits = {"data", "model", "independent"};

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t plus = name.find('+');
    parts.push_back(name.substr(0, plus));
    if (plus == std::string_view::npos) return parts;
    name.remove_prefix(plus + 1);
  }
}

bool is_codec(std::string_view word) { return std::ranges::find(codecs(), word, &Codec::name) != codecs().end(); }

bool is_algorithm(std::string_view word) {
  return std::ranges::find(kExchangeAlgorithmNames, word) != kExchangeAlgorithmNames.end();
}

[[noreturn]] void refuse(std::string_view name, std::string_view part, const std::vector<std::string_view>& known) {
  std::string list;
  for (const std::string_view word : known) list += fmt::format("{}{}", list.empty() ? "" : ", ", word);
  throw std::invalid_argument(fmt::format("strategy {}: {} is not one of {}{}", in_quotes(name), in_quotes(part), list,
                                          did_you_mean(part, known)));
}

std::vector<std::string_view> addable(bool data) {
  std::vector<std::string_view> words;
  for (const Codec& codec : codecs()) words.push_back(codec.name);
  if (data) words.insert(words.end(), kExchangeAlgorithmNames.begin(), kExchangeAlgorithmNames.end());
  return words;
}

}  // namespace

std::vector<Setting> strategy_settings(std::string_view name, int gpus) {
  const std::vector<std::string_view> parts = parts_of(name);
  const std::string_view split = parts.front();
  if (std::ranges::find(kSplits, split) == kSplits.end()) {
    refuse(name, split, {kSplits.begin(), kSplits.end()});
  }
  const bool model = split == "model";
  std::string codec = "none";
  std::string algorithm;
  for (const std::string_view part : std::vector(parts.begin() + 1, parts.end())) {
    if (split == "independent") {
      throw std::invalid_argument(fmt::format("strategy {}: independent jobs exchange nothing", in_quotes(name)));
    }
    if (is_codec(part)) {
      codec = part;
    } else if (is_algorithm(part) && !model) {
      algorithm = part;
    } else {
      refuse(name, part, addable(!model));
    }
  }
  std::vector<Setting> settings = {{"strategy.data", "auto"},
                                   {"strategy.independent", split == "independent" ? "true" : "false"},
                                   {"strategy.model.degree", model ? fmt::format("{}", gpus) : "1"},
                                   {"strategy.model.codec", model ? codec : "none"},
                                   {"strategy.exchange.codec", model ? "none" : codec}};
  if (!algorithm.empty()) settings.push_back({"strategy.exchange.algorithm", algorithm});
  return settings;
}

}  // namespace gpuscale

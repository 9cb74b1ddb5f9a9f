#include "study/strategies.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <span>
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
  if (!data) return words;
  words.insert(words.end(), kExchangeAlgorithmNames.begin(), kExchangeAlgorithmNames.end());
  words.insert(words.end(), {"tensor8", "pipeline4", "context2", "expert8", "zero3", "node"});
  return words;
}

/// What the words behind a split say.
struct Additions {
  std::string_view codec = {};
  std::string_view algorithm = {};
  std::vector<Setting> degrees = {};
};

/// Hybrid sharding: what ZeRO shares out is shared out within each node.
constexpr std::string_view kWithinNode = "node";

/// Ways that are named with a number, and what the number sets; `node` has none.
struct Numbered {
  std::string_view word;
  std::string_view path;
  std::string_view neutral_path;  ///< set where the way is not named
  std::string_view neutral;
};
constexpr std::array<Numbered, 6> kNumbered = {{{"tensor", "strategy.tensor", "strategy.tensor", "1"},
                                                {"pipeline", "strategy.pipeline.stages", "strategy.pipeline", "1"},
                                                {"context", "strategy.context", "strategy.context", "1"},
                                                {"expert", "strategy.expert", "strategy.expert", "1"},
                                                {"zero", "strategy.zero", "strategy.zero", "0"},
                                                {kWithinNode, "strategy.shard_group", "strategy.shard_group", "all"}}};

/// The setting of a word such as tensor8; nothing if it is no such word.
std::optional<Setting> degree_of(std::string_view word) {
  for (const Numbered& numbered : kNumbered) {
    if (word == kWithinNode && numbered.word == kWithinNode) return Setting{std::string(numbered.path), "node"};
    if (!word.starts_with(numbered.word) || numbered.word == kWithinNode) continue;
    const std::string_view digits = word.substr(numbered.word.size());
    const bool number = !digits.empty() && std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
    if (number) return Setting{std::string(numbered.path), std::string(digits)};
  }
  return std::nullopt;
}

/// Takes a word for a choice that is made once.
void choose(std::string_view& choice, std::string_view word, std::string_view name, std::string_view kind) {
  if (!choice.empty()) {
    throw std::invalid_argument(
        fmt::format("strategy {}: {} and {} are two {}; name one", in_quotes(name), choice, word, kind));
  }
  choice = word;
}

Additions read_additions(std::string_view name, std::span<const std::string_view> words, std::string_view split) {
  Additions additions;
  const bool data = split == "data";
  for (const std::string_view word : words) {
    if (split == "independent") {
      throw std::invalid_argument(fmt::format("strategy {}: independent jobs exchange nothing", in_quotes(name)));
    }
    if (const std::optional<Setting> degree = degree_of(word); degree && data) {
      additions.degrees.push_back(*degree);
    } else if (is_codec(word)) {
      choose(additions.codec, word, name, "codecs");
    } else if (is_algorithm(word) && data) {
      choose(additions.algorithm, word, name, "algorithms");
    } else {
      refuse(name, word, addable(data));
    }
  }
  return additions;
}

}  // namespace

std::vector<Setting> strategy_settings(std::string_view name, int gpus) {
  std::vector<std::string_view> parts = parts_of(name);
  if (degree_of(parts.front())) parts.insert(parts.begin(), "data");  // copies take the GPUs that are left
  const std::string_view split = parts.front();
  if (std::ranges::find(kSplits, split) == kSplits.end()) {
    refuse(name, split,
           {kSplits[0], kSplits[1], kSplits[2], "tensor8", "pipeline4", "context2", "expert8", "zero3", "node"});
  }
  const Additions additions = read_additions(name, std::span(parts).subspan(1), split);
  const bool model = split == "model";
  const std::string codec(additions.codec.empty() ? "none" : additions.codec);
  std::vector<Setting> settings = {{"strategy.data", "auto"},
                                   {"strategy.independent", split == "independent" ? "true" : "false"},
                                   {"strategy.model.degree", model ? fmt::format("{}", gpus) : "1"},
                                   {"strategy.model.codec", model ? codec : "none"},
                                   {"strategy.exchange.codec", model ? "none" : codec}};
  if (!additions.algorithm.empty()) {
    settings.push_back({"strategy.exchange.algorithm", std::string(additions.algorithm)});
  }
  for (const Numbered& numbered : kNumbered) {
    if (additions.degrees.empty()) break;
    const auto named = std::ranges::find(additions.degrees, numbered.path, &Setting::path);
    settings.push_back(named != additions.degrees.end()
                           ? *named
                           : Setting{std::string(numbered.neutral_path), std::string(numbered.neutral)});
  }
  for (Setting& setting : settings) setting.origin.file = fmt::format("strategy {}", in_quotes(name));
  return settings;
}

}  // namespace gpuscale

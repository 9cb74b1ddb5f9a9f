#include "collective/choose.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "units/check.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

/// Sizes of one class lie within a factor of 2^(1/4).
constexpr double kClassesPerOctave = 4.0;

int size_class(Bytes size) {
  return size.count() < 1 ? 0 : static_cast<int>(std::lround(kClassesPerOctave * std::log2(size.count()))) + 1;
}

Bytes size_of_class(int number) { return Bytes(number == 0 ? 0.0 : std::exp2((number - 1) / kClassesPerOctave)); }

/// Heaviest first: among equals the plain one.
std::vector<Protocol> protocols_of(const Transport& transport) {
  if (transport.protocols.empty()) return {Protocol::simple};
  std::vector<Protocol> protocols = transport.protocols;
  std::ranges::sort(protocols, std::greater<>());
  return protocols;
}

const AlgorithmEntry* entry_of(ExchangeAlgorithm algorithm) {
  const auto entries = exchange_algorithms();
  const auto found = std::ranges::find(entries, algorithm, &AlgorithmEntry::algorithm);
  return found == entries.end() ? nullptr : &*found;
}

/// What every group can do.
ExchangeAlgorithm fallback_for(Collective what) {
  const bool pairwise = what == Collective::all_to_all || what == Collective::send;
  return pairwise ? ExchangeAlgorithm::direct : ExchangeAlgorithm::ring;
}

/// Whether a transport has an algorithm. Every one sends from rank to rank, and so does its all-to-all.
bool has_algorithm(const Transport& transport, Collective what, ExchangeAlgorithm algorithm) {
  const bool pairwise = what == Collective::all_to_all || what == Collective::send;
  return transport.algorithms.empty() || (pairwise && algorithm == ExchangeAlgorithm::direct) ||
         std::ranges::find(transport.algorithms, algorithm) != transport.algorithms.end();
}

ExchangeChoice best_protocol(const RankGroup& group, Collective what, const Exchange& exchange,
                             ExchangeAlgorithm algorithm) {
  ExchangeChoice best{.algorithm = algorithm, .time = Seconds(-1.0)};
  for (const Protocol protocol : protocols_of(group.transport())) {
    const Seconds time = time_alone(group, what, exchange, algorithm, protocol);
    if (best.time.count() < 0 || time < best.time) best = {algorithm, protocol, time};
    if (!has_protocols(algorithm)) break;
  }
  return best;
}

Exchange plain(Bytes size, Seconds call) {
  Exchange exchange;
  exchange.size = size;
  exchange.values = size.count() / 4.0;
  exchange.call = call;
  return exchange;
}

}  // namespace

Seconds time_alone(const RankGroup& group, Collective what, const Exchange& exchange, ExchangeAlgorithm algorithm,
                   Protocol protocol) {
  const AlgorithmEntry* entry = entry_of(algorithm);
  check(entry != nullptr, "only algorithms of the table are timed alone");
  PlanBuilder plan;
  plan.label("");
  Exchange alone = plain(exchange.size, exchange.call);
  alone.fidelity = Fidelity::coupled;
  Mover mover(plan, group, alone, protocol, Company::none);
  add_by(*entry, mover, what, alone.size, RankTasks(group.size()));
  return group.plan_time(std::move(plan).build());
}

ExchangeChoice choose_exchange(const RankGroup& group, Collective what, const Exchange& exchange,
                               ExchangeAlgorithm asked) {
  const AlgorithmEntry* entry = entry_of(asked);
  if (asked != ExchangeAlgorithm::automatic && (entry == nullptr || !can_do(*entry, what, group))) {
    asked = fallback_for(what);
  }
  if (group.size() < 2) return {.algorithm = asked};
  const bool one_way = protocols_of(group.transport()).size() == 1;
  if (asked != ExchangeAlgorithm::automatic && one_way) return {asked, protocols_of(group.transport()).front(), {}};
  const int size = size_class(exchange.size);
  const RankGroup::ChoiceKey key = {static_cast<int>(what), static_cast<int>(asked), size, 0};
  const auto known = group.choices().find(key);
  if (known != group.choices().end()) return known->second;
  const Exchange typical = plain(size_of_class(size), exchange.call);
  const ExchangeChoice choice = asked == ExchangeAlgorithm::automatic ? ranked_choices(group, what, typical).front()
                                                                      : best_protocol(group, what, typical, asked);
  group.choices().emplace(key, choice);
  return choice;
}

std::vector<ExchangeChoice> ranked_choices(const RankGroup& group, Collective what, const Exchange& exchange) {
  std::vector<ExchangeChoice> choices;
  for (const AlgorithmEntry& entry : exchange_algorithms()) {
    const bool has = has_algorithm(group.transport(), what, entry.algorithm);
    if (has && can_do(entry, what, group)) choices.push_back(best_protocol(group, what, exchange, entry.algorithm));
  }
  std::ranges::stable_sort(choices, {}, &ExchangeChoice::time);
  if (choices.empty()) choices.push_back(best_protocol(group, what, exchange, fallback_for(what)));
  return choices;
}

bool has_protocols(ExchangeAlgorithm algorithm) { return algorithm != ExchangeAlgorithm::in_switch; }

std::string reason_of(const RankGroup& group, Collective what, const Exchange& exchange, const ExchangeChoice& choice) {
  const std::vector<ExchangeChoice> ranked = ranked_choices(group, what, plain(exchange.size, exchange.call));
  const auto own = std::ranges::find(ranked, choice.algorithm, &ExchangeChoice::algorithm);
  std::vector<std::string> parts;
  if (!group.transport().protocols.empty() && has_protocols(choice.algorithm)) {
    parts.emplace_back(kProtocolNames[static_cast<std::size_t>(choice.protocol)]);
  }
  if (own != ranked.end()) {
    parts.push_back(fmt::format("{} alone for {}", to_text(own->time), to_text(exchange.size)));
  }
  std::string text = fmt::format("{}", fmt::join(parts, ", "));
  const auto next =
      std::ranges::find_if(ranked, [&](const auto& other) { return other.algorithm != choice.algorithm; });
  if (next != ranked.end()) {
    text += fmt::format("{}next is {} with {}", text.empty() ? "" : "; ", name(next->algorithm), to_text(next->time));
  }
  return text;
}

}  // namespace gpuscale

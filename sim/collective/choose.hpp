#pragma once

#include <string>
#include <vector>

#include "collective/algorithms.hpp"
#include "collective/exchange.hpp"
#include "collective/rank_group.hpp"

namespace gpuscale {

/// The time of an exchange with nothing else going on: a plan of its own, executed.
Seconds time_alone(const RankGroup& group, Collective what, const Exchange& exchange, ExchangeAlgorithm algorithm,
                   Protocol protocol);

/// The fastest protocol of an algorithm, or of all algorithms that can do it if `asked` is automatic, by
/// time_alone(). Remembered by the group for all sizes within a fifth of each other, so that the choice for a
/// size depends on nothing asked before. \pre some algorithm can do it; an asked one that cannot is a ring.
ExchangeChoice choose_exchange(const RankGroup& group, Collective what, const Exchange& exchange,
                               ExchangeAlgorithm asked);

/// Every algorithm that can do it with its best protocol, fastest first.
std::vector<ExchangeChoice> ranked_choices(const RankGroup& group, Collective what, const Exchange& exchange);

/// Whether an algorithm goes by a protocol of the links; moves that speak none are the same under all.
bool has_protocols(ExchangeAlgorithm algorithm);

/// Why a choice was made, without its name: "ll128, 41.2 us alone for 4.00 MiB; next is ring with 55.0 us".
std::string reason_of(const RankGroup& group, Collective what, const Exchange& exchange, const ExchangeChoice& choice);

}  // namespace gpuscale

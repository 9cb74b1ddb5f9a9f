#pragma once

#include "scenario/cross_checks.hpp"

namespace gpuscale {

/// Whether codecs are of use where they are asked for.
void check_codecs(const Scenario& scenario, const SoundParts& sound, Reading& reading);

}  // namespace gpuscale

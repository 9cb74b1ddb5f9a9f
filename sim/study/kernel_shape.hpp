#pragma once

/// \file
/// Kernels as tables of measurements name them: a kind in words and a shape of named numbers.

#include <string_view>
#include <vector>

#include "hardware/kernel.hpp"

namespace gpuscale {

/// The kernels that a kind and a shape stand for; more than one where a table times them together:
///
/// | kind | shape |
/// |---|---|
/// | gemm | `M=1760 N=16 K=1760` |
/// | conv forward, backward_data, backward_weights | `N=4 C=1 H=161 W=700 K=32 R=5 S=20 pad=0x0 stride=2x2` |
/// | rnn, gru, lstm, then forward, backward_data, backward_weights or backward (both) | `hidden=512 batch=16
/// timesteps=25`, the recurrent products alone | | attention forward, backward: fused, causal | `batch=1 seq=512
/// heads=16 kv_heads=8 head_dim=128` |
///
/// Names that a kind does not know are ignored (`opA=N`).
/// \throws ScenarioError without a place if the kind is unknown or a number is missing or not positive
std::vector<Kernel> kernels_of(std::string_view kind, std::string_view shape);

}  // namespace gpuscale

#pragma once

#include <string>

#include "units/quantity.hpp"

namespace gpuscale {

/// How well one kind of arithmetic units (vector or matrix) does matrix products.
struct ProductEfficiency {
  /// Fraction of the peak rate at which tiles multiply once their operands are there; above one where cards run
  /// above their nominal boost clock; (0, 1.2].
  double efficiency = 0.95;
  /// Depth k at which a tile reaches half its rate, for its prologue and epilogue; >= 0.
  double depth_half = 50.0;
  /// Bytes of operands that a multiprocessor brings to its tile per clock, from the L2 through shared memory;
  /// that time is not hidden behind the arithmetic. Infinity: no limit; > 0.
  double operand_rate = 200.0;
  /// Energy in pJ of a 32-bit (vector) or 16-bit (matrix) FLOP, for cards whose power limit holds them below
  /// their peak; 0: none does.
  double picojoule = 0.0;
  /// Shortest side of a tile that the matrix library offers; 16, 32, 64 or 128.
  double narrowest_tile = 16.0;
  /// Further factor for 8-bit numbers on matrix units; (0, 1].
  double eight_bit = 1.0;
  /// Cost of bringing an operand A that lies transposed (BLAS: op T), from memory and to its tiles, relative to a plain
  /// one: its rows are read in short strips and turned on the way; [1, 10].
  double transposed = 1.0;

  bool operator==(const ProductEfficiency&) const = default;
};

struct GemmEfficiency {
  ProductEfficiency vector;
  ProductEfficiency matrix;
  double memory = 0.8;  ///< fraction of the memory bandwidth that products reach; (0, 1]

  bool operator==(const GemmEfficiency&) const = default;
};

/// Rates of a layer's three products, relative to what large matrix products reach.
struct PassEfficiency {
  double forward = 0.9;            ///< (0, 1.2]
  double backward_data = 0.85;     ///< (0, 1.2]
  double backward_weights = 0.65;  ///< (0, 1.2]

  bool operator==(const PassEfficiency&) const = default;
};

/// Convolution as implicit GEMM. The convolution library has kernels of its own, so their ramps differ from
/// those of the matrix library.
struct ImplicitEfficiency {
  PassEfficiency rate;
  double depth_half = 30.0;     ///< as in ProductEfficiency
  double operand_rate = 100.0;  ///< as in ProductEfficiency
  /// Parts into which the products of backward_weights are split along their depth, the pixels of the batch: always
  /// on vector units, at most on matrix units; [1, 64].
  double weights_split = 10.0;

  bool operator==(const ImplicitEfficiency&) const = default;
};

/// 16-bit convolutions on vector units of a card that does fp16 at more than its fp32 rate (GP100, Vega). Other
/// cards without matrix units compute in fp32.
struct NarrowEfficiency {
  double rate = 1.0;          ///< relative to fp32, at most what the peaks allow; (0, 2]
  double strided_data = 1.0;  ///< further factor on backward_data where the stride leaves pixels out; (0, 1]

  bool operator==(const NarrowEfficiency&) const = default;
};

struct ConvolutionEfficiency {
  ImplicitEfficiency vector;  ///< fp32 and narrower storage on vector units
  ImplicitEfficiency matrix;  ///< on matrix units
  NarrowEfficiency vector_16bit;
  /// Products of a Winograd transform on vector units, all in one kernel; 0: the library has none, as for weights.
  PassEfficiency winograd{.backward_weights = 0.0};
  PassEfficiency unfused_winograd;  ///< the same with transforms as kernels of their own
  PassEfficiency fft{.forward = 0.0, .backward_data = 0.0, .backward_weights = 0.0};  ///< of an FFT
  double strided_data = 0.5;  ///< further factor on backward_data where the stride is above one; (0, 1]
  double narrow_input = 0.5;  ///< further factor on matrix units below eight input channels a group; (0, 1]
  double direct = 0.15;       ///< fraction of the vector peak of kernels without operand reuse: depthwise; (0, 1]
  double memory = 0.8;        ///< fraction of the memory bandwidth; (0, 1]

  bool operator==(const ConvolutionEfficiency&) const = default;
};

/// Kernels that run all steps in one launch and keep the recurrent weights in registers.
struct PersistentEfficiency {
  Bytes on_chip = Bytes(0);         ///< weights that a multiprocessor can hold; 0: the library has no such kernels
  Seconds barrier = Seconds(2e-6);  ///< per step: all multiprocessors wait for each other

  bool operator==(const PersistentEfficiency&) const = default;
};

struct RecurrentEfficiency {
  Seconds step = Seconds(15e-6);  ///< fixed cost of a time step beside its product: launches, element-wise part
  double memory = 0.6;            ///< fraction of the memory bandwidth at which steps read their weights; (0, 1]
  double forward = 0.6;           ///< rate of the step's product relative to a GEMM; (0, 1.2]
  double backward_data = 0.5;     ///< (0, 1.2]
  double backward_weights = 0.9;  ///< rate of the one product over all steps relative to a GEMM; (0, 1.2]
  /// Batch for which the library takes its widest tile and does not split the depth wherever such tiles run side by
  /// side on all multiprocessors: a rule of thumb that leaves most of them idle; 0: it has no such rule.
  double unsplit_batch = 0.0;
  PersistentEfficiency persistent = {};

  bool operator==(const RecurrentEfficiency&) const = default;
};

struct AttentionEfficiency {
  double forward = 0.6;        ///< fraction of peak that long fused attention reaches; (0, 1]
  double backward = 0.5;       ///< the same for the backward pass, its recomputation counted as work; (0, 1]
  double length_half = 500.0;  ///< keys per query at which fused attention reaches half its rate; >= 0

  bool operator==(const AttentionEfficiency&) const = default;
};

struct StreamEfficiency {
  double memory = 0.8;  ///< fraction of the memory bandwidth that long streams reach; (0, 1]

  bool operator==(const StreamEfficiency&) const = default;
};

/// What an architecture family makes of its peak rates. Fitted on measurements of few cards and used for
/// every card of the family; figures and their sources live in topologies/families/.
struct Family {
  std::string id;    ///< file name, as a GPU spells it
  std::string name;  ///< as its maker calls it
  std::string source;
  Seconds launch = Seconds(4e-6);  ///< cost of one kernel on the device beside its work: start, drain
  double spread = 0.0;  ///< standard deviation of a step's compute time between cards, over its mean; [0, 0.2]
  GemmEfficiency gemm;
  ConvolutionEfficiency convolution;
  RecurrentEfficiency recurrent;
  AttentionEfficiency attention;
  StreamEfficiency stream;

  bool operator==(const Family&) const = default;
};

}  // namespace gpuscale

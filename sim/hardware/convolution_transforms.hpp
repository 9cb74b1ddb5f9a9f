#pragma once

/// \file
/// Convolutions that save arithmetic: Winograd's minimal filtering and the FFT. On vector units, for stride 1
/// without groups. Used by choose_convolution() only.
///
/// `to_beat` is a time that another algorithm has reached: what cannot be faster is nothing.

#include <array>
#include <optional>

#include "hardware/convolution_shape.hpp"
#include "hardware/product.hpp"

namespace gpuscale {

/// All in one kernel; nothing where no such kernel exists for the window or the pass.
std::optional<ConvolutionWay> fused_winograd(const Gpu& gpu, const ConvolutionKernel& kernel,
                                             const ConvolutionShape& shape, const ProductUnits& units);

/// Transforms as kernels of their own around a batched product; nothing where the window is neither 3x3 nor 5x5.
std::optional<ConvolutionWay> unfused_winograd(const Gpu& gpu, const ConvolutionKernel& kernel,
                                               const ConvolutionShape& shape, const ProductUnits& units,
                                               Seconds to_beat);

/// A square FFT of real numbers.
struct FourierTile {
  double side;
  double log2_of_pixels;

  [[nodiscard]] constexpr double pixels() const { return side * side; }
  /// Complex numbers that describe it: half a spectrum.
  [[nodiscard]] constexpr double points() const { return side * (side / 2.0 + 1.0); }
  /// 2.5 n log2 n, half of the 5 n log2 n of complex numbers (Frigo and Johnson, benchFFT, www.fftw.org/speed).
  [[nodiscard]] constexpr double flop() const { return 2.5 * pixels() * log2_of_pixels; }
};

/// Those that libraries have (cuDNN's fft2d_r2c_32x32 and 16x16, as profiles name them).
inline constexpr std::array<FourierTile, 2> kFourierTiles = {
    {{.side = 16.0, .log2_of_pixels = 8.0}, {.side = 32.0, .log2_of_pixels = 10.0}}};

/// Transforms of tiles around a batched complex product; nothing for windows of one pixel or larger than a tile.
std::optional<ConvolutionWay> fourier(const Gpu& gpu, const ConvolutionKernel& kernel, const ConvolutionShape& shape,
                                      const ProductUnits& units, const FourierTile& tile, Seconds to_beat);

}  // namespace gpuscale

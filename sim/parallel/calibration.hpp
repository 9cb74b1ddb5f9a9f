#pragma once

namespace gpuscale {

/// Factors on times by kind, as measured on one user's installation; what `gpuscale calibrate` writes and the key
/// `workload.calibrate` of a scenario reads. Above one: slower than the data files say.
struct Calibration {
  double products = 1.0;  ///< matrix products, convolutions, recurrent layers, attention; [0.05, 20]
  double streams = 1.0;   ///< everything else that a GPU computes: element-wise, norms, updates; [0.05, 20]
  double host = 1.0;      ///< all host costs of the framework; [0.05, 20]
  double exchange = 1.0;  ///< exchanges: their latencies times, their rates divided by this; [0.05, 20]

  bool operator==(const Calibration&) const = default;
};

/// The range of a factor. Beyond it something else is wrong than a constant.
inline constexpr double kLeastCalibration = 0.05;
inline constexpr double kMostCalibration = 20.0;

}  // namespace gpuscale

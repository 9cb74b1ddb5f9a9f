#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "hardware/family.hpp"
#include "hardware/precision.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// A rate per precision; empty where the hardware has none.
using RateTable = std::array<std::optional<FlopPerSecond>, kPrecisionNames.size()>;

constexpr std::optional<FlopPerSecond> rate_at(const RateTable& table, Precision precision) {
  return table[static_cast<std::size_t>(precision)];
}

/// A link type by name and how many lanes or bricks of it: `pcie-3 x16`.
struct LinkChoice {
  std::string type;
  int lanes = 1;

  bool operator==(const LinkChoice&) const = default;
};

/// Where a cooler leaves its heat: a blower outside the case, open-air fans inside, water at a radiator.
enum class Cooler { blower, open_air, water };

inline constexpr std::array<std::string_view, 3> kCoolerNames = {"blower", "open_air", "water"};

/// One GPU, as its vendor describes it. Figures and their sources live in topologies/gpus/.
struct Gpu {
  std::string id;    ///< file name, as a scenario spells it
  std::string name;  ///< as on the box
  std::string source;
  std::string launched;                                 ///< ISO date
  std::optional<Dollars> price;                         ///< at launch
  Family family;                                        ///< what this architecture makes of its peak rates
  RateTable peak;                                       ///< vector units at boost clock
  RateTable matrix;                                     ///< matrix units, dense, fp32 accumulation; empty without them
  Bytes memory_size;                                    ///< what programs have of it
  std::optional<Bytes> fast_memory_size;                ///< where the last part of the memory is slow (GTX 970)
  std::optional<BytesPerSecond> slow_memory_bandwidth;  ///< of that part; there if fast_memory_size is
  BytesPerSecond memory_bandwidth;
  Bytes l2_size;
  int multiprocessors = 1;
  Hertz base_clock;
  Hertz boost_clock;
  LinkChoice host_bus;
  std::optional<LinkChoice> nvlink;
  bool peer_to_peer = true;  ///< copies between cards over PCIe without the host
  int copy_engines = 1;
  /// Of a processor that runs the framework's program on its own cores, one operator after the other: the speed of such
  /// a core relative to a Xeon's, for which host costs are given; (0, 10]. Empty: a host beside it runs ahead of it.
  std::optional<double> own_host = {};
  Watts power_limit;
  Watts idle_power;
  std::optional<Cooler> cooler = {};  ///< of the reference design; empty where the box brings the air
};

/// How long the host's work takes beside this card, relative to what frameworks' files say.
constexpr double host_pace(const Gpu& gpu) { return 1.0 / gpu.own_host.value_or(1.0); }

/// Whether products of this precision run on the matrix units.
bool on_matrix_units(const Gpu& gpu, Precision precision);

/// The bandwidth that a job meets which has this much memory in use: where it spills into a slow last part,
/// every access has its share of that. Jobs are taken to touch all their memory alike.
BytesPerSecond memory_bandwidth_in_use(const Gpu& gpu, Bytes used);

/// The fastest rate a matrix product of this precision can have: matrix units where they exist, vector
/// units otherwise; 16-bit and 8-bit numbers on a card without such units are stored small and computed
/// as fp32 (training accumulates in fp32, so faster fp16 vector units do not count). tf32 asks for matrix
/// units and falls back to fp32.
FlopPerSecond peak_matrix_rate(const Gpu& gpu, Precision precision);

}  // namespace gpuscale

#pragma once

/// \file
/// What a machine or cluster can do, before any job runs on it: the values behind `gpuscale topo`.

#include <optional>
#include <string>
#include <vector>

#include "scenario/hardware.hpp"
#include "study/copy_rates.hpp"
#include "study/device_joins.hpp"
#include "topology/cluster.hpp"

namespace gpuscale {

/// Up to this many GPUs a report has every pair; above, classes of pairs stand for them.
inline constexpr std::size_t kPairedGpus = 128;
/// Up to this many GPUs the ring and the halves are solved.
inline constexpr std::size_t kSolvedGpus = 4096;

/// A GPU or network adapter, with its rates to host memory if it is a GPU.
struct ReportedDevice {
  DeviceId id;
  std::string name;
  DeviceKind kind = DeviceKind::gpu;
  std::string card;              ///< of a GPU among unlike ones
  std::string cpu;               ///< the nearest, or empty
  BytesPerSecond from_host;      ///< alone
  BytesPerSecond to_host;        ///< alone
  BytesPerSecond all_from_host;  ///< while all GPUs of its box read
  BytesPerSecond all_to_host;
};

/// A copy from one GPU to another.
struct ReportedPair {
  std::size_t from = 0;  ///< numbers among the GPUs
  std::size_t to = 0;
  Join join;
  bool staged = false;      ///< through host memory
  BytesPerSecond alone;     ///< with nothing else going on
  BytesPerSecond together;  ///< while every GPU copies to every other
  Seconds latency;          ///< of the hardware on the way
};

/// Pairs that are joined alike.
struct PairClass {
  Join join;
  bool staged = false;
  std::size_t pairs = 0;  ///< looked at: all, or those of the first box and a sample of the others
  BytesPerSecond slowest;
  BytesPerSecond fastest;
  Seconds least_latency;
  Seconds most_latency;
};

/// Copies that run at once.
struct PatternRates {
  BytesPerSecond slowest;  ///< copy
  BytesPerSecond total;
  std::size_t copies = 0;
};

/// Two halves by name and what crosses between them, one way.
struct ReportedHalves {
  std::string first;
  std::string second;
  BytesPerSecond rate;
};

struct ReportedBisection {
  ReportedHalves worst;
  ReportedHalves best;
  std::string method;  ///< how it was found, a sentence
};

struct TopologyReport {
  std::string title;  ///< the machine in words
  std::string machine;
  std::string gpu;                 ///< by id; of unlike cards with how many of each
  std::vector<std::string> cards;  ///< ids by kind
  bool peer_to_peer = false;       ///< of every card
  bool some_peer_to_peer = false;  ///< of one at least
  std::string fabric;              ///< empty for one box
  int nodes = 1;
  std::vector<std::pair<std::string, std::size_t>> device_counts;  ///< by kind, over all boxes
  std::size_t links = 0;                                           ///< one way
  std::vector<ReportedDevice> gpus;                                ///< all that take part, or those of the first box
  std::vector<ReportedDevice> adapters;                            ///< of the boxes of `gpus`
  std::size_t gpu_count = 0;                                       ///< that take part
  std::vector<std::vector<Join>> joins;                            ///< rows and columns: gpus, then adapters
  std::vector<ReportedPair> pairs;   ///< every ordered pair, or of the first box; `together` is 0 if not solved
  std::vector<PairClass> classes;    ///< nearest first
  std::optional<PatternRates> ring;  ///< every GPU to the next, the last to the first
  std::optional<PatternRates> all_pairs;
  std::optional<ReportedBisection> bisection;
  std::vector<std::string> provenance;
};

TopologyReport describe(const Hardware& hardware, const Cluster& cluster);

}  // namespace gpuscale

#pragma once

/// \file
/// An exchange step by step: what its coupled transfers stand for, small enough to be kept beside them. As long as all
/// copies of a transfer go at one pace they are one flow; where other traffic would part them, who runs the plan works
/// the copies instead, from the step that has been reached.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "units/channel_load.hpp"
#include "units/quantity.hpp"

namespace gpuscale {

/// A copy between two ranks that is made once a step.
struct StepCopy {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t strand = 0;      ///< copies of different strands do not wait for each other
  std::uint32_t part = 0;        ///< which of the transfers that move side by side carries it
  std::uint32_t first_step = 0;  ///< its first; it is made as often as the move says
  double weight = 1.0;           ///< bytes for each byte of the move
  BytesPerSecond cap{};
  Seconds latency = {};
  std::uint32_t first_load = 0;
  std::uint32_t load_count = 0;
};

/// Copies that are made over and over: a rank makes those of a step once all copies from and to it of the step before
/// have ended. What arrives early waits in its memory.
class StepPattern {
 public:
  StepPattern(std::size_t ranks, std::vector<StepCopy> copies, std::vector<ChannelLoad> loads);

  [[nodiscard]] std::size_t ranks() const { return ranks_; }
  [[nodiscard]] std::size_t strands() const { return strands_; }
  [[nodiscard]] std::size_t parts() const { return parts_; }
  /// By how many steps the last copy begins later than the first.
  [[nodiscard]] std::uint32_t fill() const { return fill_; }
  [[nodiscard]] std::span<const StepCopy> copies() const { return copies_; }
  [[nodiscard]] std::span<const ChannelLoad> loads(const StepCopy& copy) const {
    return std::span(loads_).subspan(copy.first_load, copy.load_count);
  }
  /// The copies of a strand from and to a rank, by number.
  [[nodiscard]] std::span<const std::uint32_t> of_rank(std::size_t strand, std::size_t rank) const;

 private:
  std::size_t ranks_;
  std::size_t strands_ = 0;
  std::size_t parts_ = 0;
  std::uint32_t fill_ = 0;
  std::vector<StepCopy> copies_;
  std::vector<ChannelLoad> loads_;
  std::vector<std::uint32_t> first_of_rank_;  // into of_rank_, by strand and rank
  std::vector<std::uint32_t> of_rank_;
};

/// A move of an exchange, and the tasks of the plan that are the same in coupled form: for every `steps_of_task` steps
/// in turn one of each part of the pattern.
struct SteppedMove {
  std::shared_ptr<const StepPattern> pattern = {};
  std::uint32_t times = 0;          ///< each copy is made
  std::uint32_t steps_of_task = 0;  ///< of a task; the pattern's fill counts
  std::uint32_t first_task = 0;     ///< after the first task of the exchange
  Bytes bytes = {};                 ///< of a step
  Seconds opening = {};             ///< on top of the latency of what the first step copies
  bool streams = false;             ///< only the first time a copy is made it has latency
  /// Earlier moves of the exchange: a rank begins when those of them are over that it takes part in.
  std::vector<std::uint32_t> after = {};

  [[nodiscard]] std::uint32_t steps() const { return times + pattern->fill(); }
  [[nodiscard]] std::uint32_t task_count() const {
    return steps() / steps_of_task * static_cast<std::uint32_t>(pattern->parts());
  }
  /// The task that carries a copy at a step, after the first task of the exchange.
  [[nodiscard]] std::uint32_t task_of(const StepCopy& copy, std::uint32_t step) const {
    return first_task + step / steps_of_task * static_cast<std::uint32_t>(pattern->parts()) + copy.part;
  }
};

struct SteppedExchange {
  std::vector<SteppedMove> moves = {};
  std::uint32_t tasks = 0;  ///< between the first and the last that belong to a move, those included
};

}  // namespace gpuscale

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "plan/stepped.hpp"

namespace gpuscale {

/// How far a task of an exchange has come.
struct TaskProgress {
  double done = 0.0;     ///< share of its bytes, 0..1
  bool begun = false;    ///< what it requires has ended
  Seconds latency = {};  ///< that is left, if it has begun
};

/// An exchange that is worked step by step from some point on: which copies may start, and which tasks of its coupled
/// form they make up. Has no clock and knows no channels.
class Steps {
 public:
  /// A copy that may start.
  struct Start {
    std::uint32_t move = 0;
    std::uint32_t copy = 0;
    Bytes amount = {};
    Seconds latency = {};
  };

  /// Goes on where the tasks are. What was on its way in a step has gone as far as its task; latencies that a task has
  /// paid for are not paid again. \pre the exchange outlives it; progress of every task of the exchange
  Steps(const SteppedExchange& exchange, std::span<const TaskProgress> progress);

  /// A task may begin as the plan sees it. Ranks begin with their first move then, with others once the moves before
  /// are over for them.
  void begin(std::uint32_t task);
  /// A copy that was started has ended.
  void finish(std::uint32_t move, std::uint32_t copy);

  /// Copies that may start since the last call.
  [[nodiscard]] std::vector<Start> take_starts() { return std::exchange(starts_, {}); }
  /// Tasks all of whose copies have ended since the last call.
  [[nodiscard]] std::vector<std::uint32_t> take_ended() { return std::exchange(ended_, {}); }

 private:
  struct Move {
    std::vector<std::uint32_t> next = {};       ///< by copy, the step that it makes or will make
    std::vector<bool> under_way = {};           ///< by copy
    std::vector<double> part_done = {};         ///< by copy, of that step
    std::vector<std::uint32_t> step = {};       ///< by strand and rank
    std::vector<std::uint32_t> missing = {};    ///< by strand and rank, copies of that step that have not ended
    std::vector<bool> entered = {};             ///< by rank
    std::vector<std::uint32_t> before = {};     ///< by rank, moves that have to be over for it
    std::vector<std::uint32_t> strands = {};    ///< by rank, strands that are not over for it
    std::vector<std::uint32_t> copies = {};     ///< by task of the move, what has not ended
    std::vector<TaskProgress> tasks = {};       ///< of the move, when this took over
    std::vector<std::uint32_t> followers = {};  ///< moves that wait for it
  };

  void take_up(std::size_t number, std::span<const TaskProgress> progress);
  void enter(std::size_t number, std::uint32_t rank);
  void advance(std::size_t number, std::size_t strand, std::uint32_t rank);
  void count_missing(std::size_t number, std::size_t strand, std::uint32_t rank);
  void try_start(std::size_t number, std::uint32_t copy);
  void rank_over(std::size_t number, std::uint32_t rank);
  /// Whether a copy has nothing to do with a step any more.
  [[nodiscard]] bool has_passed(std::size_t number, std::uint32_t copy, std::uint32_t step) const;

  const SteppedExchange& exchange_;
  std::vector<Move> moves_;
  std::vector<Start> starts_;
  std::vector<std::uint32_t> ended_;
};

}  // namespace gpuscale

#pragma once

#include <concepts>

#include "engine/event_queue.hpp"
#include "units/time.hpp"

namespace gpuscale {

/// What run() drives: something that can handle a record, and do its work at the end of an instant.
template <class Model, class Record>
concept EventModel = requires(Model& model, Time now, const Record& record) {
  model.handle(now, record);
  model.end_of_instant(now);
};

/// Runs until the queue is empty. At each instant: handles its records in the order of pushing,
/// those pushed meanwhile for the same instant included; then lets the model finish the instant
/// (solve what depends on everything that happened in it). If that pushes records for the same
/// instant, the instant goes on: handled again, finished again.
/// \returns the last instant, or the queue's now() if nothing was pending.
template <class Record, EventModel<Record> Model>
Time run(EventQueue<Record>& queue, Model& model) {
  while (!queue.empty()) {
    const Time now = queue.next_time();
    do {
      const Record record = queue.pop();
      model.handle(now, record);
    } while (queue.has_record_now());
    model.end_of_instant(now);
  }
  return queue.now();
}

}  // namespace gpuscale

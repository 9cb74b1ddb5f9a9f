#include "memory/largest_batch.hpp"

#include <algorithm>
#include <cmath>

namespace gpuscale {

namespace {

struct Sized {
  double samples;
  Bytes size;
};

/// Where a line through two sizes meets the capacity.
double meeting(const Sized& a, const Sized& b, Bytes capacity) {
  const Bytes per_sample = (b.size - a.size) / (b.samples - a.samples);
  return per_sample.count() > 0 ? std::floor(a.samples + (capacity - a.size) / per_sample) : b.samples;
}

}  // namespace

double largest_that_fits(const std::function<Bytes(double)>& size, Bytes capacity, double first, double most) {
  Sized fits{1.0, size(1.0)};
  if (fits.size > capacity) return 0;
  // Up, by the line so far and at least twice as far, until something is too large.
  Sized too_large{std::clamp(std::floor(first), 2.0, std::max(2.0, most)), {}};
  too_large.size = size(too_large.samples);
  while (too_large.size <= capacity) {
    if (too_large.samples >= most) return most;
    const double next = std::max(meeting(fits, too_large, capacity) + 1.0, 2.0 * too_large.samples);
    fits = too_large;
    too_large.samples = std::min(next, most);
    too_large.size = size(too_large.samples);
  }
  // Inwards: by the line through both ends and, every second time, by the middle.
  for (bool by_line = true; too_large.samples - fits.samples > 1.0; by_line = !by_line) {
    const double middle = std::floor((fits.samples + too_large.samples) / 2.0);
    const double line = meeting(fits, too_large, capacity);
    const double asked = std::clamp(by_line ? line : middle, fits.samples + 1.0, too_large.samples - 1.0);
    Sized next{asked, size(asked)};
    if (next.size > capacity) {
      too_large = next;
      continue;
    }
    fits = next;
    // The line is exact for sizes that grow evenly: then one more is too many.
    if (!by_line || asked + 1.0 >= too_large.samples) continue;
    next = {asked + 1.0, size(asked + 1.0)};
    (next.size > capacity ? too_large : fits) = next;
  }
  return fits.samples;
}

}  // namespace gpuscale

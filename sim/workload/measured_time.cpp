#include "workload/measured_time.hpp"

#include <algorithm>
#include <vector>

#include "units/check.hpp"

namespace gpuscale {

namespace {

MeasuredTime weighted(const MeasuredTime& one, double weight, const MeasuredTime& other, double other_weight) {
  return {.forward = one.forward * weight + other.forward * other_weight,
          .backward = one.backward * weight + other.backward * other_weight,
          .update = one.update * weight + other.update * other_weight};
}

MeasuredTime in_proportion(const MeasuredTime& point, double samples) {
  return weighted(point, samples / static_cast<double>(point.batch), point, 0);
}

MeasuredTime on_line(const MeasuredTime& below, const MeasuredTime& above, double samples) {
  const double way = (samples - static_cast<double>(below.batch)) / static_cast<double>(above.batch - below.batch);
  return weighted(below, 1.0 - way, above, way);
}

MeasuredTime larger(const MeasuredTime& one, const MeasuredTime& other) {
  return {.forward = std::max(one.forward, other.forward),
          .backward = std::max(one.backward, other.backward),
          .update = std::max(one.update, other.update)};
}

/// The split whose points are used.
int nearest_split(std::span<const MeasuredTime> points, int split) {
  int below = 0;
  int least = points.front().split;
  for (const MeasuredTime& point : points) {
    if (point.split <= split) below = std::max(below, point.split);
    least = std::min(least, point.split);
  }
  return below > 0 ? below : least;
}

}  // namespace

MeasuredTime measured_at(std::span<const MeasuredTime> points, std::int64_t batch, int split) {
  check(!points.empty(), "a measured layer has a point");
  const int of_split = nearest_split(points, split);
  std::vector<MeasuredTime> usable;
  std::ranges::copy_if(points, std::back_inserter(usable),
                       [&](const MeasuredTime& point) { return point.split == of_split; });
  std::ranges::sort(usable, {}, &MeasuredTime::batch);
  const auto above = std::ranges::lower_bound(usable, batch, {}, &MeasuredTime::batch);
  const double samples = static_cast<double>(batch);
  MeasuredTime time;
  if (above == usable.end()) {
    time = in_proportion(usable.back(), samples);
  } else if (above == usable.begin()) {
    time = in_proportion(*above, samples);
    if (usable.size() > 1) time = larger(time, on_line(usable[0], usable[1], samples));
  } else {
    time = on_line(*(above - 1), *above, samples);
  }
  time = weighted(time, static_cast<double>(of_split) / split, time, 0);
  time.batch = batch;
  time.split = split;
  return time;
}

}  // namespace gpuscale

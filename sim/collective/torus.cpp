#include <array>
#include <numeric>
#include <vector>

#include "collective/algorithms.hpp"

namespace gpuscale {

namespace {

using Shape = std::vector<std::size_t>;

/// Shapes of two or three dimensions of at least two, the most even first.
std::vector<Shape> shapes_of(std::size_t ranks) {
  std::vector<Shape> shapes;
  for (std::size_t a = 2; a * a * a <= ranks; ++a) {
    for (std::size_t b = a; a * b * b <= ranks; ++b) {
      if (ranks % (a * b) == 0) shapes.push_back({a, b, ranks / (a * b)});
    }
  }
  std::vector<Shape> flat;
  for (std::size_t a = 2; a * a <= ranks; ++a) {
    if (ranks % a == 0) flat.push_back({a, ranks / a});
  }
  std::vector<Shape> all(shapes.rbegin(), shapes.rend());
  all.insert(all.end(), flat.rbegin(), flat.rend());
  for (std::size_t i = all.size(); i-- > 0;) {  // a shape may lie either way
    Shape turned(all[i].rbegin(), all[i].rend());
    if (turned != all[i]) all.insert(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, std::move(turned));
  }
  return all;
}

/// The rings along one dimension of ranks in row-major order.
GroupPattern rings_along(const Shape& shape, std::size_t dimension) {
  const std::size_t ranks = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  std::size_t stride = 1;
  for (std::size_t d = dimension + 1; d < shape.size(); ++d) stride *= shape[d];
  GroupPattern result;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (rank / stride % shape[dimension] != 0) continue;
    std::vector<Leg>& legs = result.pattern.channels.emplace_back();
    for (std::size_t i = 0; i < shape[dimension]; ++i) {
      legs.push_back({.from = rank + i * stride, .to = rank + (i + 1) % shape[dimension] * stride});
    }
  }
  return result;
}

/// Whether every leg is one link.
bool is_joined(const RankGroup& group, const GroupPattern& pattern) {
  for (const std::vector<Leg>& channel : pattern.pattern.channels) {
    for (const Leg& leg : channel) {
      if (group.topology().route(group.ranks()[leg.from].gpu, group.ranks()[leg.to].gpu).links.size() != 1)
        return false;
    }
  }
  return true;
}

/// The shape in which all neighbours are joined; empty if there is none.
Shape joined_shape(const RankGroup& group) {
  for (const Shape& shape : shapes_of(group.size())) {
    bool joined = true;
    for (std::size_t d = 0; d < shape.size() && joined; ++d) joined = is_joined(group, rings_along(shape, d));
    if (joined) return shape;
  }
  return {};
}

/// The moves of one part of the data: reduce-scatters along the dimensions in turn, beginning with dimension
/// `first`, each on what is left, and all-gathers back.
struct PartMove {
  GroupPattern rings;
  std::size_t steps;
  Bytes bytes;
};

std::vector<PartMove> moves_of_part(const Shape& shape, std::size_t first, Collective what, Bytes size) {
  std::vector<PartMove> forth;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t dimension = (first + i) % shape.size();
    size = size / static_cast<double>(shape[dimension]);
    forth.push_back({rings_along(shape, dimension), shape[dimension] - 1, size});
  }
  if (what == Collective::reduce_scatter) return forth;
  std::vector<PartMove> back(forth.rbegin(), forth.rend());
  if (what == Collective::all_gather) return back;
  forth.insert(forth.end(), back.begin(), back.end());
  return forth;
}

}  // namespace

bool has_torus(const RankGroup& group) { return !joined_shape(group).empty(); }

RankTasks add_torus(Mover& mover, Collective what, Bytes size, const RankTasks& ready, Seconds extra) {
  const RankGroup& group = mover.group();
  Shape shape = joined_shape(group);
  if (shape.empty()) {
    const std::vector<Shape> shapes = shapes_of(group.size());
    if (shapes.empty()) return add_ring(mover, what, size, ready, extra);
    shape = shapes.front();
  }
  const auto parts = static_cast<double>(shape.size());
  std::vector<std::vector<PartMove>> moves;
  for (std::size_t first = 0; first < shape.size(); ++first) {
    moves.push_back(moves_of_part(shape, first, what, size / parts));
  }
  MoveCost cost{.opens = true, .own = size / (group.count() * parts), .extra = extra};
  RankTasks done = ready;
  for (std::size_t phase = 0; phase < moves.front().size(); ++phase) {  // all parts move on together
    std::vector<RankTasks> moved;
    for (const std::vector<PartMove>& part : moves) {
      moved.push_back(mover.move(part[phase].rings, part[phase].steps, part[phase].bytes, done, cost));
    }
    done = join_ranks(mover.plan(), moved);
    cost = {};
  }
  return done;
}

}  // namespace gpuscale

#include "parallel/rank_grid.hpp"

#include <doctest/doctest.h>

using namespace gpuscale;

TEST_SUITE("parallel") {
  TEST_CASE("tensor ranks are neighbours and stages are farthest apart") {
    const RankGrid grid{.tensor = 2, .context = 1, .data = 3, .pipeline = 2};
    CHECK(grid.size() == 12);
    CHECK(grid.replica() == 4);
    CHECK(grid.stride(RankAxis::tensor) == 1);
    CHECK(grid.stride(RankAxis::data) == 2);
    CHECK(grid.stride(RankAxis::pipeline) == 6);
    CHECK(grid.place(7, RankAxis::tensor) == 1);
    CHECK(grid.place(7, RankAxis::data) == 0);
    CHECK(grid.place(7, RankAxis::pipeline) == 1);
    CHECK(grid.groups({RankAxis::tensor}).front() == Members{0, 1});
    CHECK(grid.groups({RankAxis::data}).front() == Members{0, 2, 4});
    CHECK(grid.groups({RankAxis::pipeline}).back() == Members{5, 11});
  }

  TEST_CASE("another order puts stages next to each other") {
    const RankGrid grid{
        .tensor = 2, .pipeline = 4, .order = {RankAxis::pipeline, RankAxis::tensor, RankAxis::context, RankAxis::data}};
    CHECK(grid.groups({RankAxis::pipeline}).front() == Members{0, 1, 2, 3});
    CHECK(grid.groups({RankAxis::tensor}).front() == Members{0, 4});
  }

  TEST_CASE("groups along several axes hold all ranks once") {
    const RankGrid grid{.tensor = 2, .context = 2, .data = 4, .pipeline = 2};
    for (const std::vector<RankAxis>& along :
         {std::vector{RankAxis::tensor}, {RankAxis::context, RankAxis::data}, {RankAxis::pipeline, RankAxis::tensor}}) {
      std::vector<int> seen(32, 0);
      for (const Members& group : grid.groups(along)) {
        for (const std::size_t rank : group) ++seen[rank];
      }
      CHECK(seen == std::vector<int>(32, 1));
    }
  }

  TEST_CASE("runs and what stands across them divide a group") {
    const std::vector<Members> groups = {{0, 2, 4, 6}};
    CHECK(runs_of(groups, 2) == std::vector<Members>{{0, 2}, {4, 6}});
    CHECK(across_runs(groups, 2) == std::vector<Members>{{0, 4}, {2, 6}});
  }
}

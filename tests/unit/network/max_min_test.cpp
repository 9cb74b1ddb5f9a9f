#include "network/max_min.hpp"

#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

using namespace gpuscale;

namespace {

constexpr ChannelId channel(std::size_t index) { return ChannelId(index); }

std::vector<double> rates(std::vector<BytesPerSecond> capacity, std::vector<FlowDemand> demands) {
  std::vector<double> numbers;
  for (const BytesPerSecond rate : max_min_rates(capacity, demands)) numbers.push_back(rate.count());
  return numbers;
}

}  // namespace

TEST_SUITE("network") {
  TEST_CASE("two flows on one channel get half each") {
    // a + b <= 10  =>  a = b = 5
    CHECK(rates({BytesPerSecond(10)}, {{{{channel(0)}}}, {{{channel(0)}}}}) == std::vector<double>{5, 5});
  }

  TEST_CASE("a long flow leaves to the short ones what its tightest channel keeps from it") {
    // a + b <= 10, a + c <= 4  =>  a = c = 2, b = 8
    const auto result = rates({BytesPerSecond(10), BytesPerSecond(4)},
                              {{{{channel(0)}, {channel(1)}}}, {{{channel(0)}}}, {{{channel(1)}}}});
    CHECK(result == std::vector<double>{2, 8, 2});
  }

  TEST_CASE("a chain of channels is filled from its tightest end") {
    // a + b <= 2, b + c <= 7, c + d <= 20  =>  a = b = 1, c = 6, d = 14
    const auto result =
        rates({BytesPerSecond(2), BytesPerSecond(7), BytesPerSecond(20)},
              {{{{channel(0)}}}, {{{channel(0)}, {channel(1)}}}, {{{channel(1)}, {channel(2)}}}, {{{channel(2)}}}});
    CHECK(result == std::vector<double>{1, 1, 6, 14});
  }

  TEST_CASE("a weight multiplies what a flow takes and not its share of the rate") {
    // 3 a + b <= 8, both rise together  =>  a = b = 2
    CHECK(rates({BytesPerSecond(8)}, {{{{channel(0), 3.0}}}, {{{channel(0)}}}}) == std::vector<double>{2, 2});
    // 3 a + b <= 8, a <= 1 by its other channel  =>  b = 5
    CHECK(rates({BytesPerSecond(8), BytesPerSecond(0.5)},
                {{{{channel(0), 3.0}, {channel(1), 0.5}}}, {{{channel(0)}}}}) == std::vector<double>{1, 5});
  }

  TEST_CASE("several loads on one channel add up") {
    // (1 + 3) a <= 8
    CHECK(rates({BytesPerSecond(8)}, {{{{channel(0)}, {channel(0), 3.0}}}}) == std::vector<double>{2});
  }

  TEST_CASE("a cap leaves its rest to the others") {
    // a + b + c <= 12, a <= 2  =>  b = c = 5
    CHECK(rates({BytesPerSecond(12)}, {{{{channel(0)}}, BytesPerSecond(2)}, {{{channel(0)}}}, {{{channel(0)}}}}) ==
          std::vector<double>{2, 5, 5});
  }

  TEST_CASE("a cap at or above the fair share changes nothing") {
    CHECK(rates({BytesPerSecond(12)}, {{{{channel(0)}}, BytesPerSecond(6)}, {{{channel(0)}}, BytesPerSecond(7)}}) ==
          std::vector<double>{6, 6});
  }

  TEST_CASE("a coupled flow goes at the pace of its slowest channel") {
    // One pace over three channels of 6, 3, 9 with weights 1, 2, 1: a <= 1.5. A second flow on the
    // first takes the rest: 4.5.
    const auto result = rates({BytesPerSecond(6), BytesPerSecond(3), BytesPerSecond(9)},
                              {{{{channel(0)}, {channel(1), 2.0}, {channel(2)}}}, {{{channel(0)}}}});
    CHECK(result == std::vector<double>{1.5, 4.5});
  }

  TEST_CASE("a flow without loads goes at its cap") {
    CHECK(rates({}, {{{}, BytesPerSecond(3)}}) == std::vector<double>{3});
  }

  TEST_CASE("no demands have no rates") { CHECK(rates({BytesPerSecond(1)}, {}).empty()); }

  TEST_CASE("what cannot be is refused") {
    CHECK_THROWS_AS(rates({BytesPerSecond(1)}, {{{}}}), std::logic_error);
    CHECK_THROWS_AS(rates({BytesPerSecond(0)}, {}), std::logic_error);
    CHECK_THROWS_AS(rates({BytesPerSecond(1)}, {{{{channel(1)}}}}), std::logic_error);
    CHECK_THROWS_AS(rates({BytesPerSecond(1)}, {{{{channel(0), 0.0}}}}), std::logic_error);
    CHECK_THROWS_AS(rates({BytesPerSecond(1)}, {{{{channel(0)}}, BytesPerSecond(0)}}), std::logic_error);
  }
}

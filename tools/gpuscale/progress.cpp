#include "progress.hpp"

#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <string>

namespace gpuscale::tool {

namespace {

std::string time_left(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  if (whole < 60) return fmt::format("{} s left", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s left", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min left", whole / 3600, whole % 3600 / 60);
}

}  // namespace

void Progress::update(std::size_t done, std::size_t total) {
  using namespace std::chrono_literals;
  constexpr std::size_t kBar = 30;
  const Clock::time_point now = Clock::now();
  if (done_at_start_ == 0) {
    start_ = drawn_ = now;
    done_at_start_ = done;
  }
  if (!enabled_ || now - drawn_ < 100ms) return;  // short work shows no bar at all
  drawn_ = now;
  visible_ = true;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const double left = elapsed / static_cast<double>(done - done_at_start_) * static_cast<double>(total - done);
  const std::size_t filled = kBar * done / total;
  const std::string line = fmt::format("\r[{}{}] {}/{} points, {}\x1b[K", std::string(filled, '#'),
                                       std::string(kBar - filled, '.'), done, total, time_left(left));
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

Progress::~Progress() {
  if (visible_) std::fputs("\r\x1b[K", stderr);
}

}  // namespace gpuscale::tool

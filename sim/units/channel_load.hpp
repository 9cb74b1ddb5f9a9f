#pragma once

#include "units/id.hpp"

namespace gpuscale {

/// What a transfer does to one channel: at rate r it takes weight * r of the channel's capacity.
struct ChannelLoad {
  ChannelId channel = {};
  double weight = 1.0;  ///< positive and finite; bytes on this channel per byte of the transfer

  bool operator==(const ChannelLoad&) const = default;
};

}  // namespace gpuscale

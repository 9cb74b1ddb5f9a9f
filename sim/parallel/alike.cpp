#include "parallel/alike.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace gpuscale {

namespace {

/// What a class of flows of an exchange puts on a channel.
struct ClassLoad {
  std::uint32_t exchange = 0;
  std::uint32_t flow_class = 0;
  double weight = 0.0;

  auto operator<=>(const ClassLoad&) const = default;
};

/// A flow on a channel.
struct Passage {
  ChannelId channel;
  std::uint32_t flow = 0;
  double weight = 0.0;

  auto operator<=>(const Passage&) const = default;
};

double weight_on(const std::vector<ChannelLoad>& loads, ChannelId channel) {
  const auto found = std::ranges::lower_bound(loads, channel, {}, &ChannelLoad::channel);
  return found != loads.end() && found->channel == channel ? found->weight : 0.0;
}

/// Which channels are full only if another is: every flow on one takes at least as large a part of the other. Such
/// channels hold no flow, whatever else the flows do. Of two that imply each other the first counts.
class ImpliedChannels {
 public:
  ImpliedChannels(std::span<const AlikeFlows> exchanges, const Topology& topology)
      : topology_(topology), implied_(topology.channels().size(), false) {
    std::vector<Passage> all;
    for (const AlikeFlows& exchange : exchanges) {
      for (const std::vector<ChannelLoad>& loads : exchange.loads) {
        for (const ChannelLoad& load : loads)
          all.push_back({load.channel, static_cast<std::uint32_t>(flows_.size()), load.weight});
        flows_.push_back(&loads);
        narrowest_first_.push_back(loads);
        std::ranges::sort(narrowest_first_.back(), [this](const ChannelLoad& one, const ChannelLoad& other) {
          const double of_one = one.weight * rate(other.channel);
          const double of_other = other.weight * rate(one.channel);
          return of_one > of_other || (of_one == of_other && one.channel < other.channel);
        });
      }
    }
    std::ranges::sort(all);
    for (auto first = all.begin(); first != all.end();) {
      const auto last =
          std::find_if(first, all.end(), [&](const Passage& other) { return other.channel != first->channel; });
      implied_[first->channel.index()] = is_implied({first, last});
      first = last;
    }
  }

  bool operator[](ChannelId channel) const { return implied_[channel.index()]; }

 private:
  [[nodiscard]] double rate(ChannelId channel) const { return topology_.channels()[channel.index()].rate.count(); }

  /// \pre all passages are of one channel
  [[nodiscard]] bool is_implied(std::span<const Passage> passages) const {
    const ChannelId channel = passages.front().channel;
    const auto loads_of = [this](const Passage& passage) { return flows_[passage.flow]->size(); };
    const Passage& shortest = *std::ranges::min_element(passages, {}, loads_of);
    for (const ChannelLoad& other : narrowest_first_[shortest.flow]) {
      if (other.weight * rate(channel) < shortest.weight * rate(other.channel)) return false;  // and all after it
      if (other.channel != channel && implies(other.channel, passages)) return true;
    }
    return false;
  }

  [[nodiscard]] bool implies(ChannelId other, std::span<const Passage> passages) const {
    const ChannelId channel = passages.front().channel;
    bool equal = true;
    for (const Passage& passage : passages) {
      const double here = passage.weight * rate(other);
      const double there = weight_on(*flows_[passage.flow], other) * rate(channel);
      if (here > there) return false;
      equal = equal && here == there;
    }
    return !equal || other < channel;
  }

  const Topology& topology_;
  std::vector<const std::vector<ChannelLoad>*> flows_ = {};  ///< in order of channels
  std::vector<std::vector<ChannelLoad>> narrowest_first_ = {};
  std::vector<bool> implied_;
};

/// A number for each channel that can hold flows, the same for those of one capacity and equal loads by every class.
class ChannelColours {
 public:
  ChannelColours(std::span<const AlikeFlows> exchanges, const Topology& topology)
      : colours_(topology.channels().size()), implied_(exchanges, topology) {
    std::vector<std::tuple<ChannelId, ClassLoad>> all;
    for (std::uint32_t exchange = 0; exchange < exchanges.size(); ++exchange) {
      const AlikeFlows& flows = exchanges[exchange];
      for (std::size_t i = 0; i < flows.loads.size(); ++i) {
        for (const ChannelLoad& load : flows.loads[i]) {
          if (implied_[load.channel]) continue;
          all.emplace_back(load.channel, ClassLoad{exchange, flows.classes[i % flows.tasks], load.weight});
        }
      }
    }
    std::ranges::sort(all);  // weights too, so that equal sets have equal sums to the last bit
    using Signature = std::pair<double, std::vector<ClassLoad>>;
    std::map<Signature, std::uint32_t> numbers;
    for (auto next = all.begin(); next != all.end();) {
      const ChannelId channel = std::get<0>(*next);
      Signature signature{topology.channels()[channel.index()].rate.count(), {}};
      for (; next != all.end() && std::get<0>(*next) == channel; ++next) {
        const ClassLoad& load = std::get<1>(*next);
        std::vector<ClassLoad>& loads = signature.second;
        const bool same =
            !loads.empty() && loads.back().exchange == load.exchange && loads.back().flow_class == load.flow_class;
        if (same) {
          loads.back().weight += load.weight;
        } else {
          loads.push_back(load);
        }
      }
      const auto [position, is_new] = numbers.try_emplace(std::move(signature), numbers.size() + 1);
      if (is_new) first_.push_back(channel);
      colours_[channel.index()] = position->second;
    }
  }

  /// From 1; 0 where the channel holds nothing.
  [[nodiscard]] std::uint32_t of(ChannelId channel) const { return colours_[channel.index()]; }
  /// The first channel of a colour.
  [[nodiscard]] ChannelId first(std::uint32_t colour) const { return first_[colour - 1]; }

 private:
  std::vector<std::uint32_t> colours_;
  ImpliedChannels implied_;
  std::vector<ChannelId> first_;
};

/// What a flow sees.
using View = std::vector<std::pair<std::uint32_t, double>>;

View view_of(const std::vector<ChannelLoad>& loads, const ChannelColours& colours) {
  View view;
  view.reserve(loads.size());
  for (const ChannelLoad& load : loads) {
    if (const std::uint32_t colour = colours.of(load.channel); colour != 0) view.emplace_back(colour, load.weight);
  }
  std::ranges::sort(view);
  return view;
}

/// By group and task.
std::vector<std::vector<View>> views_of(const AlikeFlows& flows, const ChannelColours& colours) {
  std::vector<std::vector<View>> views(flows.groups());
  for (std::size_t i = 0; i < flows.loads.size(); ++i)
    views[i / flows.tasks].push_back(view_of(flows.loads[i], colours));
  return views;
}

/// Numbers for groups by all that their flows see; nothing if all see the same.
GroupKinds kinds_of(const std::vector<std::vector<View>>& views) {
  std::map<std::vector<View>, std::uint32_t> numbers;
  GroupKinds kinds;
  for (const std::vector<View>& of_group : views) {
    if (of_group == views.front()) {
      kinds.push_back(0);
    } else {
      kinds.push_back(numbers.try_emplace(of_group, static_cast<std::uint32_t>(numbers.size()) + 1).first->second);
    }
  }
  return numbers.empty() ? GroupKinds() : kinds;
}

/// Whether tasks of one class see the same in the first group.
bool classes_agree(const AlikeFlows& flows, const std::vector<View>& views) {
  std::map<std::uint32_t, const View*> first;
  for (std::size_t task = 0; task < flows.tasks; ++task) {
    const auto [known, is_new] = first.try_emplace(flows.classes[task], &views[task]);
    if (!is_new && *known->second != views[task]) return false;
  }
  return true;
}

}  // namespace

GroupKinds settle_classes(AlikeFlows& flows, const Topology& topology) {
  while (true) {
    const ChannelColours colours(std::span(&flows, 1), topology);
    const std::vector<std::vector<View>> views = views_of(flows, colours);
    if (GroupKinds kinds = kinds_of(views); !kinds.empty()) return kinds;
    std::map<std::pair<std::uint32_t, View>, std::uint32_t> numbers;
    std::vector<std::uint32_t> split;
    for (std::size_t task = 0; task < flows.tasks; ++task) {
      const auto number = static_cast<std::uint32_t>(numbers.size());
      split.push_back(numbers.try_emplace({flows.classes[task], views.front()[task]}, number).first->second);
    }
    const bool settled = numbers.size() == std::size_t{1} + *std::ranges::max_element(flows.classes);
    flows.classes = std::move(split);
    if (settled) return {};
  }
}

std::vector<std::vector<ChannelLoad>> merged_loads(const AlikeFlows& flows) {
  using Load = std::tuple<std::uint32_t, ChannelId, double>;
  std::vector<Load> all;
  for (std::size_t i = 0; i < flows.loads.size(); ++i) {
    for (const ChannelLoad& load : flows.loads[i])
      all.emplace_back(flows.classes[i % flows.tasks], load.channel, load.weight);
  }
  std::ranges::sort(all);
  std::vector<std::vector<ChannelLoad>> merged;
  for (std::size_t task = 0; task < flows.tasks; ++task) {
    std::vector<ChannelLoad> loads = flows.loads[task];
    for (ChannelLoad& load : loads) {
      const auto [first, last] =
          std::ranges::equal_range(all, std::pair(flows.classes[task], load.channel), {},
                                   [](const Load& other) { return std::pair(std::get<0>(other), std::get<1>(other)); });
      load.weight = 0.0;
      for (auto other = first; other != last; ++other) load.weight += std::get<2>(*other);
    }
    merged.push_back(std::move(loads));
  }
  return merged;
}

AlikeChannels alike_channels(std::span<const AlikeFlows> exchanges, const Topology& topology) {
  const ChannelColours colours(exchanges, topology);
  AlikeChannels result;
  for (std::size_t exchange = 0; exchange < exchanges.size(); ++exchange) {
    const AlikeFlows& flows = exchanges[exchange];
    if (flows.tasks == 0) continue;
    const std::vector<std::vector<View>> views = views_of(flows, colours);
    GroupKinds kinds = kinds_of(views);
    // Flows of one group that were one and are not: only to simulate every group helps.
    if (kinds.empty() && !classes_agree(flows, views.front())) {
      kinds.resize(flows.groups());
      std::iota(kinds.begin(), kinds.end(), 0);
    }
    if (!kinds.empty()) result.unlike.emplace(exchange, std::move(kinds));
  }
  for (std::size_t channel = 0; channel < topology.channels().size(); ++channel) {
    const std::uint32_t colour = colours.of(ChannelId(channel));
    result.stands_for.push_back(colour == 0 ? ChannelId(channel) : colours.first(colour));
  }
  return result;
}

}  // namespace gpuscale

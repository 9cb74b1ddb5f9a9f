#include "parallel/rank_kinds.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "hardware/kernel_time.hpp"
#include "parallel/build_plan.hpp"
#include "topology/cards.hpp"
#include "units/check.hpp"
#include "workload/lower.hpp"

namespace gpuscale {

namespace {

/// The update of the whole model on one card.
Seconds update_time(const Job& job, const ModelWork& work, const Gpu& gpu) {
  std::int64_t tensors = 0;
  for (const LayerWork& layer : work.layers) tensors += static_cast<std::int64_t>(layer.parameters.size());
  if (tensors == 0) return {};
  const StreamKernel kernel =
      optimizer_update(job.optimizer, static_cast<std::int64_t>(parameter_count(work)), tensors, job.precision,
                       has_master_weights(job.precision), update_habit(job.framework, job.optimizer));
  return stream_time(gpu, kernel) * job.kernel_scale();
}

/// Shares of a microbatch by the speed of each rank's card. A card is slower on few samples than on many, so the speeds
/// are looked up again at the shares that come out, a few times; the shares with which the slowest is done first count.
class SharesBySpeed {
 public:
  SharesBySpeed(const Job& job, const ClusterSpec& spec, const RankGrid& grid, const std::vector<std::size_t>& cards)
      : job_(job), spec_(spec), grid_(grid), cards_(cards) {}

  std::vector<std::int64_t> of(std::int64_t total) {
    constexpr int kRounds = 4;
    const auto even = std::max<std::int64_t>(1, total / static_cast<std::int64_t>(cards_.size()));
    std::vector<std::int64_t> shares(cards_.size(), even);
    std::vector<std::int64_t> best;
    double shortest = 0;
    for (int round = 0; round < kRounds; ++round) {
      shares = shared_by_speed(total, speeds_at(shares));
      const double time = slowest(shares);
      if (!best.empty() && time >= shortest) continue;
      best = shares;
      shortest = time;
    }
    return best;
  }

 private:
  double speed(std::size_t card, std::int64_t share) {
    const std::pair key(card, share);
    const auto found = known_.find(key);
    if (found != known_.end()) return found->second;
    const std::int64_t samples = share * job_.parallel.pipeline.microbatches;
    return known_.emplace(key, card_speeds(job_, spec_, grid_, samples)[card]).first->second;
  }

  std::vector<double> speeds_at(const std::vector<std::int64_t>& shares) {
    std::vector<double> speeds;
    for (std::size_t rank = 0; rank < shares.size(); ++rank) speeds.push_back(speed(cards_[rank], shares[rank]));
    return speeds;
  }

  double slowest(const std::vector<std::int64_t>& shares) {
    double longest = 0;
    for (std::size_t rank = 0; rank < shares.size(); ++rank)
      longest = std::max(longest, static_cast<double>(shares[rank]) / speed(cards_[rank], shares[rank]));
    return longest;
  }

  const Job& job_;
  const ClusterSpec& spec_;
  const RankGrid& grid_;
  const std::vector<std::size_t>& cards_;
  std::map<std::pair<std::size_t, std::int64_t>, double> known_ = {};  ///< by card and share
};

/// Samples of every rank. Each microbatch is shared out alike.
std::vector<std::int64_t> samples_of_ranks(const Job& job, const ClusterSpec& spec, const RankGrid& grid,
                                           const std::vector<std::size_t>& cards) {
  const BatchSizes batch = batch_sizes(job, grid);
  if (job.parallel.batch_split == BatchSplit::even) return std::vector(cards.size(), batch.replica);
  check(grid.replica() == 1, "the reader refuses proportional shares for copies of the model that span several GPUs");
  const std::int64_t microbatches = job.parallel.pipeline.microbatches;
  std::vector<std::int64_t> samples = SharesBySpeed(job, spec, grid, cards).of(batch.global / microbatches);
  for (std::int64_t& share : samples) share *= microbatches;
  return samples;
}

}  // namespace

std::vector<std::int64_t> shared_by_speed(std::int64_t total, std::span<const double> speeds) {
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  std::vector<std::int64_t> shares;
  std::vector<double> remainders;
  for (const double speed : speeds) {
    const double exact = static_cast<double>(total) * (speed / all);
    shares.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(exact)));
    remainders.push_back(exact - static_cast<double>(shares.back()));
  }
  std::int64_t left = total - std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  for (; left > 0; --left) {
    const auto most = std::ranges::max_element(remainders) - remainders.begin();
    ++shares[static_cast<std::size_t>(most)];
    remainders[static_cast<std::size_t>(most)] -= 1.0;
  }
  // Who was given one sample for less than half of one takes it from those with most.
  for (; left < 0; ++left) --*std::ranges::max_element(shares);
  return shares;
}

std::vector<double> card_speeds(const Job& job, const ClusterSpec& spec, const RankGrid& grid, std::int64_t samples) {
  const std::int64_t microbatches = job.parallel.pipeline.microbatches;
  const ModelWork work = rank_work(job, grid, std::max<std::int64_t>(1, samples / microbatches));
  std::vector<double> speeds;
  for (std::size_t kind = 0; kind < card_kinds(spec); ++kind) {
    const Gpu& gpu = card(spec, kind);
    Seconds compute;
    Seconds host = job.framework.host.microbatch;
    for (const LayerTime& time : layer_times(work, gpu, job)) {
      compute += time.forward + (job.forward_only ? Seconds() : time.backward);
      host += time.host_forward + (job.forward_only ? Seconds() : time.host_backward);
    }
    const double passes = static_cast<double>(microbatches);
    const Seconds update = job.forward_only ? Seconds() : update_time(job, work, gpu);
    host = host * host_pace(gpu);
    const Seconds pass = gpu.own_host ? compute + host : std::max(compute, host);
    speeds.push_back(static_cast<double>(samples) / (pass * passes + update).count());
  }
  return speeds;
}

RankKinds rank_kinds(const Job& job, const ClusterSpec& spec, const Cluster& cluster, const RankGrid& grid) {
  const std::vector<std::size_t> cards = cards_of_ranks(cluster);
  const std::vector<std::int64_t> samples = samples_of_ranks(job, spec, grid, cards);
  RankKinds result;
  std::map<RankKind, std::size_t> numbers;
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    const RankKind kind{.card = cards[rank], .samples = samples[rank]};
    const auto [position, is_new] = numbers.try_emplace(kind, result.kinds.size());
    if (is_new) result.kinds.push_back(kind);
    result.of_rank.push_back(position->second);
  }
  return result;
}

}  // namespace gpuscale

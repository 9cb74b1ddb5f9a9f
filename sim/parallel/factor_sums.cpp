#include "parallel/factor_sums.hpp"

namespace gpuscale {

namespace {

/// What a further column costs a matrix, beside its bytes: arXiv:1905.13727, table 3: from rank 2 to rank 4 a step of
/// ResNet-18 takes 21 ms more (239 and 260 ms), and it has 21 matrices. Thin products and the Gram-Schmidt
/// process run a column at a time, so it is launches and idle units, not the size, that count.
constexpr Seconds kColumnOfMatrix{0.5e-3};
/// Of the codec's encoding time: adding the residual and making the left factor, and then the right one.
constexpr double kLeftShare = 16.0 / 20.0;

class FactorSums {
 public:
  FactorSums(StepBuilder& step, GroupKind groups, int stage, const Bucket& bucket, const Exchange& exchange)
      : step_(step), groups_(groups), stage_(stage), bucket_(bucket), exchange_(exchange) {}

  RankTasks add(const RankTasks& ready) {
    const Codec& code = codec(exchange_.codec);
    const double columns = static_cast<double>(step_.job.parallel.exchange.rank);
    const double values = bucket_.matrices.values;
    const auto encode = [&](const Participant& rank) { return encode_time(code, values, rank.memory_bandwidth); };
    const RankTasks left = kernels(ready, [&](const Participant& rank) { return encode(rank) * kLeftShare; });
    const double vectors = bucket_.values - values;
    const RankTasks left_sums = sum(columns * bucket_.matrices.rows + vectors, left);
    const RankTasks right = kernels(left_sums, [&](const Participant& rank) {
      return encode(rank) * (1.0 - kLeftShare) + kColumnOfMatrix * (columns * bucket_.matrices.count);
    });
    const RankTasks right_sums = sum(columns * bucket_.matrices.columns, right);
    note();
    return kernels(right_sums,
                   [&](const Participant& rank) { return decode_time(code, values, rank.memory_bandwidth); });
  }

 private:
  template <class Time>
  RankTasks kernels(const RankTasks& after, const Time& time) {
    RankTasks done = after;
    for (const std::size_t role : step_.roles_of(stage_)) {
      const Participant& self = step_.roles[role].self;
      done[role] = step_.plan.add(Work{.activity = Activity::exchange,
                                       .lane = self.compute,
                                       .duration = time(self),
                                       .label = exchange_.codec_label},
                                  {after[role]});
    }
    return done;
  }

  RankTasks sum(double values, const RankTasks& ready) {
    Exchange factors = exchange_;
    factors.codec = CodecKind::none;
    factors.size = exchange_.size * (values / exchange_.values);
    factors.values = values;
    sent_ += factors.size;
    const ExchangeAlgorithm algorithm = algorithm_in_force(step_.job);
    return step_.collective(groups_, stage_, Collective::all_reduce, algorithm, factors, ready);
  }

  void note() {
    const double ranks = static_cast<double>(step_.group_size(groups_));
    step_.note_sent("gradient", stage_, sent_, exchange_.size, share_sent(Collective::all_reduce, ranks));
  }

  StepBuilder& step_;
  GroupKind groups_;
  int stage_;
  const Bucket& bucket_;
  const Exchange& exchange_;
  Bytes sent_ = {};
};

}  // namespace

RankTasks add_factor_sums(StepBuilder& step, GroupKind groups, int stage, const Bucket& bucket,
                          const Exchange& exchange, const RankTasks& ready) {
  return FactorSums(step, groups, stage, bucket, exchange).add(ready);
}

}  // namespace gpuscale

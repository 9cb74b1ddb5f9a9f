// The feed-forward net of a Transformer block, alone and as a mixture of experts.

#include <algorithm>
#include <cmath>
#include <string>

#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

double real(std::int64_t count) { return static_cast<double>(count); }

std::int64_t as_count(double visits) { return static_cast<std::int64_t>(std::min(visits, kLargestTensor)); }

}  // namespace

void add_feed_forward(Lowering& lowering, Draft& draft, const FeedForwardSteps& net) {
  const bool with_gate = gated(net.activation);
  const double rows = real(net.rows) * real(net.experts_met.value_or(net.experts));
  const Bytes inner = rows * real(net.ffn) * activation_size(lowering.options().precision);
  const std::string up = std::string(net.name_prefix) + (with_gate ? "gate_up" : "up");
  const std::string down = std::string(net.name_prefix) + "down";
  draft.product({.name = up,
                 .out = with_gate ? 2 * net.ffn : net.ffn,
                 .in = net.width,
                 .rows = net.rows,
                 .bias = net.bias,
                 .split = net.divided,
                 .expert = net.routed && lowering.options().expert > 1,
                 .groups = net.experts,
                 .groups_met = net.experts_met});
  const WrittenOutOperators& forms = lowering.written_out();
  const std::optional<WrittenOut> form = net.activation == FeedForward::gelu        ? forms.gelu
                                         : net.activation == FeedForward::gelu_tanh ? forms.gelu_tanh
                                                                                    : std::nullopt;
  if (form) {
    draft.written_out(*form, rows * real(net.ffn));
  } else if (!lowering.options().fused_elementwise) {
    draft.stream((with_gate ? 3.0 : 2.0) * inner, (with_gate ? 5.0 : 3.0) * inner);
  }
  // relu keeps its output, gelu also its input, a gated form both its inputs.
  draft.save((with_gate ? 3.0 : net.activation == FeedForward::relu ? 1.0 : 2.0) * inner);
  draft.product({.name = down,
                 .out = net.width,
                 .in = net.ffn,
                 .rows = net.rows,
                 .bias = net.bias,
                 .split = net.divided,
                 .expert = net.routed && lowering.options().expert > 1,
                 .groups = net.experts,
                 .groups_met = net.experts_met});
}

void add_experts(Lowering& lowering, Draft& draft, const ExpertMixture& mixture, FeedForwardSteps net) {
  const Bytes number = activation_size(lowering.options().precision);
  const double tokens = real(net.rows);
  const double scores = tokens * real(mixture.count);
  draft.product({.name = "router", .out = mixture.count, .in = net.width, .rows = net.rows, .bias = false});
  // Softmax and the choice; the probabilities are kept.
  draft.step({StreamKernel{.moved = 3.0 * scores * number, .kernels = 2}},
             {StreamKernel{.moved = 3.0 * scores * number}}, 2, 1);
  draft.save(scores * number);

  const std::int64_t tensor_ranks = lowering.options().tensor;
  if (mixture.ffn) net.ffn = *mixture.ffn / tensor_ranks;
  if (mixture.shared > 0) {
    FeedForwardSteps shared = net;
    shared.ffn *= mixture.shared;
    shared.name_prefix = "shared.";
    add_feed_forward(lowering, draft, shared);
  }

  // With a capacity every expert works on all its places, else on the tokens that come: an even share.
  const double visits = tokens * real(mixture.active);
  // Ranks that divide the experts send each other the visits of theirs; the busiest rank counts.
  const std::int64_t ranks = lowering.options().expert;
  const double met = visits * real(ranks) * lowering.options().expert_imbalance;
  const double share = std::min(met * mixture.capacity.value_or(1.0) / real(mixture.count), kLargestTensor);
  net.rows = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(share - 1e-9)));
  net.name_prefix = "experts.";
  net.experts = mixture.count / ranks;
  net.routed = true;
  if (!mixture.capacity) net.experts_met = std::max<std::int64_t>(1, std::min(as_count(met), mixture.count) / ranks);
  const double places = real(net.rows) * real(net.experts_met.value_or(net.experts));
  const Bytes sorted = places * real(net.width) * number;
  const Bytes token = tokens * real(net.width) * number;
  const auto all_to_all = [&](ExchangeMoment when) {
    return LayerExchange{.axis = SplitAxis::expert,
                         .what = LayerCollective::all_to_all,
                         .when = when,
                         .size = lowering.position_share() * sorted};
  };
  for (const ExchangeMoment when : {ExchangeMoment::before, ExchangeMoment::after}) {
    draft.exchange_forward(all_to_all(when));
    draft.exchange_backward(all_to_all(when));
  }
  draft.stream(2.0 * sorted, sorted + token);  // tokens in the order of their experts
  draft.save(sorted);
  add_feed_forward(lowering, draft, net);
  draft.save(sorted);                                  // outputs, whose products with the errors are the router's
  draft.stream(sorted + token, 2.0 * sorted + token);  // back, weighted and summed
}

}  // namespace gpuscale

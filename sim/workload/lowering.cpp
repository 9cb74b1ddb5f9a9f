#include "workload/lowering.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace gpuscale {

namespace {

constexpr std::size_t kEnoughProblems = 100;

std::int64_t whole(double count) { return static_cast<std::int64_t>(std::min(count, kLargestTensor)); }

std::string title(const LayerSpec& layer) {
  const std::string kind(kind_name(layer.layer));
  return layer.name.empty() ? kind : fmt::format("{} '{}'", kind, layer.name);
}

}  // namespace

Lowering::Lowering(const LowerOptions& options, std::set<const LayerSpec*> unusable, bool embedding_is_tied,
                   std::vector<Problem>& problems)
    : options_(options),
      written_out_(options.fused_elementwise ? WrittenOutOperators() : options.written_out),
      unusable_(std::move(unusable)),
      embedding_is_tied_(embedding_is_tied),
      problems_(problems) {}

ValueId Lowering::add_value(const Shape& shape, bool needs_gradient) {
  const ValueId id(values_.size());
  values_.push_back({.shape = shape, .needs_gradient = needs_gradient, .saved = false, .memory = id});
  return id;
}

ValueId Lowering::add_view(ValueId of, const Shape& shape) {
  const Value& origin = values_[of.index()];
  const Value view{.shape = shape, .needs_gradient = origin.needs_gradient, .saved = false, .memory = origin.memory};
  values_.push_back(view);
  return ValueId(values_.size() - 1);
}

bool Lowering::saved(ValueId value) const { return values_[values_[value.index()].memory.index()].saved; }

bool Lowering::mark_saved(ValueId value) {
  return !std::exchange(values_[values_[value.index()].memory.index()].saved, true);
}

void Lowering::note(const LayerSpec& layer, const std::string& text) {
  const Place& place = layer.place;
  const std::string line = fmt::format("{}: {}", title(layer), text);
  // Repeats visit a layer many times with other shapes; its first problem is enough.
  const std::string key = place.line > 0 ? fmt::format("{}:{}:{}", place.file, place.line, place.column) : line;
  if (noted_.insert(key).second) note(place, line);
}

void Lowering::note(const Place& place, const std::string& text) {
  problems_.push_back({place, text});
  if (problems_.size() >= kEnoughProblems) stopped_ = true;
}

bool Lowering::is_reasonable(const LayerSpec& layer, const Shape& shape) {
  if (number_count(shape) <= kLargestTensor) return true;
  note(layer, fmt::format("makes {} per sample, more than 2^40 numbers; check the sizes", describe(shape)));
  return false;
}

std::string Lowering::unique(const std::string& name) {
  std::string candidate = name;
  for (int again = 2; !names_.insert(candidate).second; ++again) candidate = fmt::format("{}_{}", name, again);
  return candidate;
}

std::string Lowering::new_name(const LayerSpec& layer) {
  if (layer.name.empty()) return new_name(kind_name(layer.layer));
  const int uses = ++scopes_.back().counts["'" + layer.name];
  return unique(scope() + (uses == 1 ? layer.name : fmt::format("{}_{}", layer.name, uses)));
}

std::string Lowering::new_name(std::string_view kind) {
  const int number = ++scopes_.back().counts[std::string(kind)];
  return unique(fmt::format("{}{}{}", scope(), kind, number));
}

void Lowering::enter(const std::string& scope) { scopes_.push_back({.prefix = scope + ".", .counts = {}}); }

void Lowering::leave() { scopes_.pop_back(); }

std::optional<Bytes> Lowering::boundary(ValueId in) const {
  if (bypasses_ > 0 || !remembered.empty()) return std::nullopt;
  const Bytes beside = encoder ? flowing(shape(*encoder)) : Bytes();
  return flowing(shape(in)) + beside;
}

bool Lowering::count_layer(const LayerSpec& layer) {
  if (++layer_count_ <= kMaximumLayers) return true;
  if (!stopped_) note(layer, fmt::format("the model has more than {} layers, repeats written out", kMaximumLayers));
  stopped_ = true;
  return false;
}

Draft::Draft(Lowering& lowering, const LayerSpec& layer, ValueId in)
    : Draft(lowering, lowering.new_name(layer), kind_name(layer.layer), layer.place, in) {
  layer_ = &layer;
}

Draft::Draft(Lowering& lowering, const LayerSpec& layer, std::string name, std::string_view kind, ValueId in)
    : Draft(lowering, std::move(name), kind, layer.place, in) {
  layer_ = &layer;
}

Draft::Draft(Lowering& lowering, std::string name, std::string_view kind, Place place, ValueId in)
    : lowering_(lowering), in_(in) {
  work.name = std::move(name);
  work.kind = std::string(kind);
  work.place = std::move(place);
  work.in = lowering.shape(in);
  work.boundary = lowering.boundary(in);
}

void Draft::step(std::vector<Kernel> forward, std::vector<Kernel> backward, int forward_operators,
                 int backward_operators) {
  for (const Kernel& kernel : forward) work.forward_flop += flop(kernel);
  std::ranges::move(forward, std::back_inserter(work.forward));
  backward_steps_.push_back(std::move(backward));
  work.forward_operators += forward_operators;
  work.backward_operators += backward_operators;
}

void Draft::stream(Bytes forward, Bytes backward) {
  std::vector<Kernel> first;
  std::vector<Kernel> second;
  if (forward > Bytes()) first.emplace_back(StreamKernel{.moved = forward});
  if (backward > Bytes()) second.emplace_back(StreamKernel{.moved = backward});
  const int forward_operators = static_cast<int>(first.size());
  const int backward_operators = static_cast<int>(second.size());
  step(std::move(first), std::move(second), forward_operators, backward_operators);
}

void Draft::written_out(const WrittenOut& form, double numbers) {
  const Precision precision = lowering_.options().precision;
  const StreamKernel forward = forward_stream(form, numbers, precision);
  const StreamKernel backward = backward_stream(form, numbers, precision);
  step({forward}, {backward}, static_cast<int>(forward.kernels), static_cast<int>(backward.kernels));
  save(kept_tensors(form, numbers, precision));
}

void Draft::product(const Product& product) {
  const auto [name, out, in, rows, bias, needs_gradient, own_weight, split, expert, groups, met] = product;
  const std::int64_t batch = met.value_or(groups);
  const double matrices = static_cast<double>(groups);
  const std::string prefix = name.empty() ? "" : fmt::format("{}.", name);
  if (!own_weight) shares_parameters();
  if (own_weight)
    matrix(prefix + "weight", matrices * static_cast<double>(out) * static_cast<double>(in), out, split, expert);
  if (bias) parameter(prefix + "bias", matrices * static_cast<double>(out), split, expert);

  std::vector<Kernel> backward;
  if (needs_gradient) backward.emplace_back(GemmKernel{.m = in, .n = rows, .k = out, .batch = batch});
  const GemmKernel weights{.m = out, .n = in, .k = rows, .batch = batch, .layout = kTransposedB};
  backward.emplace_back(weights);
  work.weight_gradients.emplace_back(weights);
  const int backward_operators = static_cast<int>(backward.size());
  const GemmKernel outputs{.m = out, .n = rows, .k = in, .batch = batch, .layout = kTransposedA};
  step({outputs}, std::move(backward), 1, backward_operators);

  const double numbers = static_cast<double>(batch) * static_cast<double>(out) * static_cast<double>(rows);
  const Bytes result = numbers * activation_size(lowering_.options().precision);
  work.kept_by_alternate += result / 2.0;
  if (bias && lowering_.written_out().bias) return written_out(*lowering_.written_out().bias, numbers);
  // Forward, the bias is added as the product is written; backward, its gradient is a sum over rows,
  // part of the same operator.
  if (bias && !lowering_.options().fused_elementwise) step({}, {StreamKernel{.moved = result}}, 0, 0);
}

void Draft::parameter(std::string name, double count, bool split, bool expert) {
  sparse_parameter(std::move(name), count, count);
  work.parameters.back().sparse_gradient = false;
  work.parameters.back().split = split;
  work.parameters.back().expert = expert;
}

void Draft::matrix(std::string name, double count, std::int64_t rows, bool split, bool expert) {
  parameter(std::move(name), count, split, expert);
  work.parameters.back().rows = rows;
}

void Draft::sparse_parameter(std::string name, double count, double touched) {
  if (count > kLargestTensor && layer_ != nullptr) {
    lowering_.note(*layer_, fmt::format("'{}' would have more than 2^40 numbers; check the sizes", name));
  }
  work.parameters.push_back({.name = std::move(name),
                             .count = whole(count),
                             .sparse_gradient = true,
                             .split = false,
                             .expert = false,
                             .gradient_count = whole(std::min(count, touched))});
}

namespace {

bool moves_something(const Lowering& lowering, const LayerExchange& exchange) {
  const LowerOptions& options = lowering.options();
  const int ranks = exchange.axis == SplitAxis::tensor    ? lowering.column_degree()
                    : exchange.axis == SplitAxis::context ? options.context
                                                          : options.expert;
  return ranks > 1 && exchange.size > Bytes();
}

}  // namespace

void Draft::exchange_forward(const LayerExchange& exchange) {
  if (moves_something(lowering_, exchange)) work.forward_exchanges.push_back(exchange);
}

void Draft::exchange_backward(const LayerExchange& exchange) {
  if (moves_something(lowering_, exchange)) work.backward_exchanges.push_back(exchange);
}

void add_tensor_exchanges(Lowering& lowering, Draft& draft, Bytes whole) {
  if (lowering.options().tensor < 2) return;
  if (!lowering.options().sequence_parallel) {
    const LayerExchange sum{.what = LayerCollective::all_reduce, .when = ExchangeMoment::after, .size = whole};
    draft.exchange_forward(sum);
    draft.exchange_backward(sum);
    return;
  }
  const LayerExchange gather{.what = LayerCollective::all_gather, .when = ExchangeMoment::before, .size = whole};
  const LayerExchange scatter{.what = LayerCollective::reduce_scatter, .when = ExchangeMoment::after, .size = whole};
  draft.exchange_forward(gather);
  draft.exchange_forward(scatter);
  draft.exchange_backward(gather);
  if (lowering.options().dtensor) {
    draft.save_gathered(whole);
  } else {  // backward gathers the input again, beside the product that makes errors
    draft.exchange_backward({.what = LayerCollective::all_gather, .when = ExchangeMoment::beside, .size = whole});
  }
  draft.exchange_backward(scatter);
}

void Draft::save_gathered(Bytes whole) { save(whole * (1.0 - lowering_.position_share())); }

void Draft::save(ValueId value) {
  if (lowering_.mark_saved(value)) save(lowering_.flowing(lowering_.shape(value)));
}

bool Draft::use_table(std::int64_t vocabulary, std::int64_t width) {
  const auto found = lowering_.embeddings.find({vocabulary, width});
  if (found == lowering_.embeddings.end()) return false;
  work.table_of = found->second;
  return true;
}

bool Draft::is_trained() const { return trained_ || !work.parameters.empty() || lowering_.needs_gradient(in_); }

void Draft::close(const Shape& out) {
  work.out = out;
  work.output = lowering_.flowing(out);
  for (auto steps = backward_steps_.rbegin(); steps != backward_steps_.rend(); ++steps) {
    std::ranges::move(*steps, std::back_inserter(work.backward));
  }
  for (const Kernel& kernel : work.backward) {
    const auto* convolution = std::get_if<ConvolutionKernel>(&kernel);
    const auto* recurrent = std::get_if<RecurrentKernel>(&kernel);
    const bool of_weights = (convolution != nullptr && convolution->pass == Pass::backward_weights) ||
                            (recurrent != nullptr && recurrent->pass == Pass::backward_weights);
    if (of_weights) work.weight_gradients.push_back(kernel);
  }
  if (!is_trained()) {
    work.backward.clear();
    work.weight_gradients.clear();
    work.saved_scores = Bytes();
    work.kept_by_alternate = Bytes();
    work.backward_operators = 0;
    work.saved = Bytes();
  }
}

ValueId Draft::finish(const Shape& out) {
  close(out);
  const ValueId value = lowering_.add_value(out, is_trained());
  lowering_.add(std::move(work));
  return value;
}

ValueId Draft::finish_saving_output(const Shape& out) {
  close(out);
  const ValueId value = lowering_.add_value(out, is_trained());
  if (lowering_.needs_gradient(value)) save(value);
  lowering_.add(std::move(work));
  return value;
}

ValueId Draft::finish_view(const Shape& out) {
  close(out);
  work.in_place = true;
  const ValueId value = lowering_.add_view(in_, out);
  lowering_.add(std::move(work));
  return value;
}

}  // namespace gpuscale

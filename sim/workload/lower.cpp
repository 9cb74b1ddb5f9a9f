#include "workload/lower.hpp"

#include <fmt/format.h>

#include "workload/check_model.hpp"
#include "workload/lowering.hpp"

namespace gpuscale {

namespace {

bool has_length(const Shape& shape) { return shape.kind == ShapeKind::tokens || shape.kind == ShapeKind::sequence; }

bool check_options(const ModelSpec& model, const LowerOptions& options, std::vector<Problem>& problems) {
  const std::size_t before = problems.size();
  const auto note = [&](std::string text) { problems.push_back({model.input_place, std::move(text)}); };
  if (options.batch < 1 || options.batch > kLargestSize) {
    note(fmt::format("a batch of {} samples per GPU; it must be between 1 and 2^30", options.batch));
  }
  for (const int degree : {options.model_split, options.tensor, options.context, options.expert}) {
    if (degree < 1) note(fmt::format("layers cannot be split over {} GPUs; 1 means not split", degree));
  }
  const std::int64_t length = options.sequence.value_or(model.input.length);
  if (options.context > 1 && !has_length(model.input)) {
    note(fmt::format("the model takes {}, which has no positions to divide; leave 'context' at 1",
                     describe(model.input)));
  } else if (options.context > 1 && length % options.context != 0) {
    note(fmt::format("{} positions do not divide over a context degree of {}; use a divisor of {}", length,
                     options.context, length));
  }
  if (options.sequence && !has_length(model.input)) {
    note(fmt::format("a sequence length is given but the model takes {}; leave the length out", describe(model.input)));
  } else if (options.sequence && (*options.sequence < 1 || *options.sequence > kLargestSize)) {
    note(fmt::format("a sequence length of {}; it must be between 1 and 2^30", *options.sequence));
  }
  return problems.size() == before;
}

}  // namespace

Bytes activation_size(Precision precision) {
  return precision == Precision::fp8 ? storage_size(Precision::bf16) : storage_size(precision);
}

ModelWork lower(const ModelSpec& model, const LowerOptions& options, std::vector<Problem>& problems) {
  const bool usable_options = check_options(model, options, problems);
  ModelCheck found = check_model(model, problems);
  if (!usable_options || !found.input_is_usable) return {};

  Lowering lowering(options, std::move(found.unusable), found.embedding_is_tied, problems);
  Shape input = model.input;
  if (options.sequence) input.length = *options.sequence;
  const std::int64_t tokens = input.length;
  if (has_length(input)) input.length /= options.context;
  lowering.work.batch = options.batch;
  lowering.work.input = number_count(input) * storage_size(Precision::fp32);
  if (has_length(input)) lowering.work.sequence_length = lowering.work.tokens_per_sample = tokens;

  const ValueId first = lowering.add_value(input, false);
  lowering.mark_saved(first);  // the batch stays in memory for the whole step; ModelWork::input counts it
  const Lowered last = lower_layers(lowering, model.layers, first);
  if (last && !lowering.has_loss && !lowering.stopped()) {
    lowering.note(model.layers_place, "the model does not end with a loss; add softmax_loss as its last layer");
  }
  return std::move(lowering.work);
}

}  // namespace gpuscale

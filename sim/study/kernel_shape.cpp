#include "study/kernel_shape.hpp"

#include <array>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "units/diagnostic.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

constexpr std::int64_t kMostSize = std::int64_t{1} << 40;

[[noreturn]] void refuse(std::string text) { throw ScenarioError({{{}, std::move(text)}}); }

/// The named numbers of a shape.
class NamedNumbers {
 public:
  explicit NamedNumbers(std::string_view shape) : shape_(shape) {}

  /// A positive whole number.
  [[nodiscard]] std::int64_t at(std::string_view name) const { return read(text(name), name, 1); }

  /// Whether an operand is transposed: T or N; as N where the shape does not say.
  [[nodiscard]] bool transposed(std::string_view name) const {
    const std::optional<std::string_view> word = find(name);
    if (word && *word != "N" && *word != "T") {
      refuse(fmt::format("{} of the shape is {}, and should be N or T", name, in_quotes(*word)));
    }
    return word == "T";
  }

  /// Two numbers such as `2x2`, of at least `least`.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> pair(std::string_view name, std::int64_t least) const {
    const std::string_view both = text(name);
    const std::size_t cross = both.find('x');
    if (cross == std::string_view::npos) {
      refuse(fmt::format("{} of the shape is {}, and should be like 2x2", name, in_quotes(both)));
    }
    return {read(both.substr(0, cross), name, least), read(both.substr(cross + 1), name, least)};
  }

 private:
  [[nodiscard]] std::string_view text(std::string_view name) const {
    const std::optional<std::string_view> found = find(name);
    if (!found) refuse(fmt::format("the shape {} has no {}", in_quotes(shape_), name));
    return *found;
  }

  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const {
    std::string_view rest = shape_;
    while (!rest.empty()) {
      const std::string_view item = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(item.size() + 1, rest.size()));
      const std::size_t equal = item.find('=');
      if (equal != std::string_view::npos && item.substr(0, equal) == name) return item.substr(equal + 1);
    }
    return std::nullopt;
  }

  static std::int64_t read(std::string_view text, std::string_view name, std::int64_t least) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < least || value > kMostSize) {
      refuse(fmt::format("{} of the shape is {}, and should be a whole number of at least {}", name, in_quotes(text),
                         least));
    }
    return value;
  }

  std::string_view shape_;
};

Kernel gemm_of(const NamedNumbers& shape) {
  return GemmKernel{.m = shape.at("M"),
                    .n = shape.at("N"),
                    .k = shape.at("K"),
                    .batch = 1,
                    .layout = {.a_transposed = shape.transposed("opA"), .b_transposed = shape.transposed("opB")}};
}

Kernel convolution_of(const NamedNumbers& shape, Pass pass) {
  const auto pad = shape.pair("pad", 0);
  const auto stride = shape.pair("stride", 1);
  ConvolutionKernel kernel;
  kernel.pass = pass;
  kernel.batch = shape.at("N");
  kernel.in_channels = shape.at("C");
  kernel.height = shape.at("H");
  kernel.width = shape.at("W");
  kernel.out_channels = shape.at("K");
  kernel.kernel_height = shape.at("R");
  kernel.kernel_width = shape.at("S");
  kernel.stride_height = stride.first;
  kernel.stride_width = stride.second;
  const std::int64_t high = kernel.height + 2 * pad.first - kernel.kernel_height;
  const std::int64_t wide = kernel.width + 2 * pad.second - kernel.kernel_width;
  if (high < 0 || wide < 0) refuse("the kernel of the convolution is larger than its padded input");
  kernel.out_height = high / stride.first + 1;
  kernel.out_width = wide / stride.second + 1;
  return kernel;
}

Kernel recurrent_of(const NamedNumbers& shape, RecurrentCell cell, Pass pass) {
  return RecurrentKernel{.pass = pass,
                         .cell = cell,
                         .batch = shape.at("batch"),
                         .input = 0,
                         .hidden = shape.at("hidden"),
                         .steps = shape.at("timesteps")};
}

Kernel attention_of(const NamedNumbers& shape, Pass pass) {
  const std::int64_t length = shape.at("seq");
  return AttentionKernel{.pass = pass,
                         .batch = shape.at("batch"),
                         .query_length = length,
                         .key_length = length,
                         .heads = shape.at("heads"),
                         .kv_heads = shape.at("kv_heads"),
                         .head_size = shape.at("head_dim"),
                         .causal = true,
                         .fused = true};
}

std::vector<Pass> passes_of(std::string_view word) {
  if (word == "forward") return {Pass::forward};
  if (word == "backward_data") return {Pass::backward_data};
  if (word == "backward_weights") return {Pass::backward_weights};
  if (word == "backward") return {Pass::backward_data, Pass::backward_weights};
  return {};
}

constexpr std::array<std::pair<std::string_view, RecurrentCell>, 3> kCells = {
    {{"rnn", RecurrentCell::rnn}, {"gru", RecurrentCell::gru}, {"lstm", RecurrentCell::lstm}}};

std::optional<Kernel> kernel_of(std::string_view what, const NamedNumbers& shape, Pass pass) {
  if (what == "conv") return convolution_of(shape, pass);
  if (what == "attention" && pass != Pass::backward_weights) return attention_of(shape, pass);
  for (const auto& [name, cell] : kCells) {
    if (what == name) return recurrent_of(shape, cell, pass);
  }
  return std::nullopt;
}

}  // namespace

std::vector<Kernel> kernels_of(std::string_view kind, std::string_view shape) {
  const NamedNumbers numbers(shape);
  if (kind == "gemm") return {gemm_of(numbers)};
  const std::size_t space = kind.find(' ');
  const std::string_view what = kind.substr(0, space);
  std::vector<Pass> passes = passes_of(space == std::string_view::npos ? "" : kind.substr(space + 1));
  if (what == "attention" && passes.size() > 1) passes.pop_back();
  std::vector<Kernel> kernels;
  for (const Pass pass : passes) {
    if (std::optional<Kernel> kernel = kernel_of(what, numbers, pass)) kernels.push_back(*kernel);
  }
  if (kernels.empty()) refuse(fmt::format("{} is no kind of kernel", in_quotes(kind)));
  return kernels;
}

}  // namespace gpuscale

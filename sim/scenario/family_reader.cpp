#include "scenario/family_reader.hpp"

#include <array>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "hardware/spread.hpp"
#include "scenario/data_file.hpp"
#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

/// Calls `read` with a reader of the map under `key`, which a family must have.
template <class Read>
void in_section(MapReader& parent, std::string_view key, Read read) {
  const YamlValue* value = parent.require(key, "{...}");
  if (value == nullptr) return;
  MapReader section(*value, fmt::format("family section '{}'", key), "-", parent.reading());
  read(section);
  section.finish();
}

constexpr double kTiny = 1e-6;       // an efficiency of zero would never end
constexpr double kMostOfPass = 1.2;  // relative to another kernel, which it may beat
constexpr double kMostBatch = 1e6;
constexpr double kMostHalf = 1e9;
constexpr double kMostTransposed = 10.0;

void read_product(MapReader& section, ProductEfficiency& product) {
  product.efficiency = section.number("efficiency", kTiny, kMostOfPass);
  product.depth_half = section.number("depth_half", 0.0, kMostHalf);
  product.operand_rate = section.number("operand_rate", kTiny, kMostHalf);
  product.picojoule = section.number("picojoule", 0.0, kMostHalf);
  constexpr std::array<std::string_view, 4> kTiles = {"16", "32", "64", "128"};
  constexpr std::array<double, 4> kSides = {16, 32, 64, 128};
  product.narrowest_tile = kSides[section.choice("narrowest_tile", kTiles)];
  product.eight_bit = section.number("eight_bit", kTiny, 1.0);
  product.transposed = section.number("transposed", 1.0, kMostTransposed);
}

void read_passes(MapReader& section, PassEfficiency& passes, double least) {
  passes.forward = section.number("forward", least, kMostOfPass);
  passes.backward_data = section.number("backward_data", least, kMostOfPass);
  passes.backward_weights = section.number("backward_weights", least, kMostOfPass);
}

void read_implicit(MapReader& section, ImplicitEfficiency& implicit) {
  in_section(section, "rate", [&](MapReader& rate) { read_passes(rate, implicit.rate, kTiny); });
  implicit.depth_half = section.number("depth_half", 0.0, kMostHalf);
  implicit.operand_rate = section.number("operand_rate", kTiny, kMostHalf);
  implicit.weights_split = section.number("weights_split", 1.0, 64.0);
}

}  // namespace

Family read_family(const YamlValue& value, Reading& reading) {
  Family family;
  const std::optional<DataSource> data = find_data(value, kFamilyFiles, reading);
  if (!data) return family;
  MapReader reader(*data->map, "GPU family", "-", reading);
  DataHead head = read_head(reader, *data);
  family.id = data->id;
  family.name = std::move(head.name);
  family.source = std::move(head.source);
  family.launch = reader.quantity<Seconds>("launch", Zero::allowed);
  family.spread = reader.number("spread", 0.0, kMostSpread);
  in_section(reader, "gemm", [&](MapReader& gemm) {
    in_section(gemm, "vector", [&](MapReader& product) { read_product(product, family.gemm.vector); });
    in_section(gemm, "matrix", [&](MapReader& product) { read_product(product, family.gemm.matrix); });
    family.gemm.memory = gemm.number("memory", kTiny, 1.0);
  });
  in_section(reader, "convolution", [&](MapReader& convolution) {
    ConvolutionEfficiency& result = family.convolution;
    in_section(convolution, "vector", [&](MapReader& implicit) { read_implicit(implicit, result.vector); });
    in_section(convolution, "matrix", [&](MapReader& implicit) { read_implicit(implicit, result.matrix); });
    in_section(convolution, "vector_16bit", [&](MapReader& narrow) {
      result.vector_16bit.rate = narrow.number("rate", kTiny, 2.0);
      result.vector_16bit.strided_data = narrow.number("strided_data", kTiny, 1.0);
    });
    in_section(convolution, "winograd", [&](MapReader& passes) {
      result.winograd.forward = passes.number("forward", 0.0, kMostOfPass);
      result.winograd.backward_data = passes.number("backward_data", 0.0, kMostOfPass);
    });
    in_section(convolution, "unfused_winograd",
               [&](MapReader& passes) { read_passes(passes, result.unfused_winograd, 0.0); });
    in_section(convolution, "fft", [&](MapReader& passes) { read_passes(passes, result.fft, 0.0); });
    result.strided_data = convolution.number("strided_data", kTiny, 1.0);
    result.narrow_input = convolution.number("narrow_input", kTiny, 1.0);
    result.memory = convolution.number("memory", kTiny, 1.0);
    result.direct = convolution.number("direct", kTiny, 1.0);
  });
  in_section(reader, "recurrent", [&](MapReader& recurrent) {
    family.recurrent.step = recurrent.quantity<Seconds>("step", Zero::allowed);
    family.recurrent.memory = recurrent.number("memory", kTiny, 1.0);
    family.recurrent.forward = recurrent.number("forward", kTiny, kMostOfPass);
    family.recurrent.backward_data = recurrent.number("backward_data", kTiny, kMostOfPass);
    family.recurrent.backward_weights = recurrent.number("backward_weights", kTiny, kMostOfPass);
    family.recurrent.unsplit_batch = recurrent.number_or("unsplit_batch", 0.0, 0.0, kMostBatch);
    in_section(recurrent, "persistent", [&](MapReader& persistent) {
      family.recurrent.persistent.on_chip = persistent.quantity<Bytes>("on_chip", Zero::allowed);
      family.recurrent.persistent.barrier = persistent.quantity<Seconds>("barrier", Zero::allowed);
    });
  });
  in_section(reader, "attention", [&](MapReader& attention) {
    family.attention.forward = attention.number("forward", kTiny, 1.0);
    family.attention.backward = attention.number("backward", kTiny, 1.0);
    family.attention.length_half = attention.number("length_half", 0.0, kMostHalf);
  });
  in_section(reader, "stream", [&](MapReader& stream) { family.stream.memory = stream.number("memory", kTiny, 1.0); });
  reader.finish();
  return family;
}

}  // namespace gpuscale

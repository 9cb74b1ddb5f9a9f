#include "collective/codec.hpp"

#include <algorithm>
#include <array>

#include "units/check.hpp"

namespace gpuscale {

namespace {

constexpr Seconds per_value(double nanoseconds) { return Seconds(nanoseconds * 1e-9); }

/// A kernel that reads and writes this many bytes a number on the reference card, at 0.85 of its bandwidth.
constexpr Seconds by_traffic(double bytes) { return Seconds(bytes / (0.85 * kCodecReferenceBandwidth.count())); }

constexpr std::string_view kMeasured = "Dettmers 2015, arXiv:1511.04561, with its data files: GTX Titan, ns per number";

constexpr std::array<Codec, 8> kCodecs = {{
    {CodecKind::none, "none", 0, {}, {}, CodecSum::in_flight, false, "numbers travel as they are"},
    {CodecKind::fp16, "fp16", 16, by_traffic(6), by_traffic(6), CodecSum::in_flight, false,
     "fp32 read and fp16 written, or the reverse"},
    {CodecKind::bf16, "bf16", 16, by_traffic(6), by_traffic(6), CodecSum::in_flight, false,
     "fp32 read and bf16 written, or the reverse"},
    {CodecKind::int8, "int8", 8, per_value(0.1), per_value(0.05), CodecSum::per_hop, false, kMeasured},
    {CodecKind::int4, "int4", 4.0625, per_value(0.1), per_value(0.05), CodecSum::per_hop, false,
     "QSGD, arXiv:1610.02132: four bits a number and an fp32 scale for each 512; kernels as those of int8, which read "
     "the same numbers"},
    {CodecKind::one_bit, "one_bit", 1, per_value(0.095), per_value(0.02), CodecSum::per_hop, true, kMeasured},
    {CodecKind::top_k, "top_k", 0.64, by_traffic(16), by_traffic(4.2), CodecSum::all_gather, true,
     "1 % of the numbers with a 32-bit index each (Lin et al. 2018, arXiv:1712.01887); a sampled threshold reads the "
     "gradient and its residual and writes the residual"},
    {CodecKind::low_rank, "low_rank", 32, by_traffic(20), by_traffic(16), CodecSum::factors, true,
     "PowerSGD, arXiv:1905.13727: the residual is added (12 bytes), the matrix read for each factor (8); made again "
     "from them (4), and the new residual is the difference (12)"},
}};

Seconds scaled(Seconds per_value_on_reference, double values, BytesPerSecond memory_bandwidth) {
  return per_value_on_reference * values * (kCodecReferenceBandwidth / memory_bandwidth);
}

}  // namespace

std::span<const Codec> codecs() { return kCodecs; }

const Codec& codec(CodecKind kind) {
  const auto* const found = std::ranges::find(kCodecs, kind, &Codec::kind);
  check(found != kCodecs.end(), "every codec kind is in the table");
  return *found;
}

Bytes encoded_size(const Codec& codec, double values, Bytes uncompressed) {
  if (codec.kind == CodecKind::none) return uncompressed;
  return std::min(uncompressed, Bytes(values * codec.bits_per_value / 8.0));
}

Seconds encode_time(const Codec& codec, double values, BytesPerSecond memory_bandwidth) {
  return scaled(codec.encode_per_value, values, memory_bandwidth);
}

Seconds decode_time(const Codec& codec, double values, BytesPerSecond memory_bandwidth) {
  return scaled(codec.decode_per_value, values, memory_bandwidth);
}

}  // namespace gpuscale

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "units/quantity.hpp"

namespace gpuscale {

/// Gradient compression by name, spelled as in YAML.
enum class CodecKind { none, fp16, bf16, int8, int4, one_bit, top_k, low_rank };

/// What an all-reduce can do with encoded values.
enum class CodecSum {
  in_flight,   ///< codes add up like numbers
  per_hop,     ///< decode, add, encode at every hop
  all_gather,  ///< codes cannot be summed: every rank gets every rank's
  factors,     ///< two factors of every matrix are summed one after the other
};

/// A way to send fewer bits. Encode and decode run on the GPU, a number at a time.
struct Codec {
  CodecKind kind = CodecKind::none;
  std::string_view name;
  double bits_per_value = 32;  ///< on the wire, index included, averaged over all numbers
  Seconds encode_per_value;    ///< on the reference card below
  Seconds decode_per_value;
  CodecSum sum = CodecSum::in_flight;
  bool error_feedback = false;  ///< keeps one fp32 residual per number
  std::string_view source;
};

/// Every codec. Encode and decode times are the measured ones of arXiv:1511.04561 for int8 and
/// one_bit on a GTX Titan (288.4 GB/s), the others follow from the bytes they touch; on another card
/// they scale with memory bandwidth.
std::span<const Codec> codecs();

const Codec& codec(CodecKind kind);

/// The card on which the table's times hold.
inline constexpr BytesPerSecond kCodecReferenceBandwidth{288.4e9};

/// Bytes of `values` numbers on the wire; `uncompressed` is their size without a codec.
Bytes encoded_size(const Codec& codec, double values, Bytes uncompressed);

/// Time to encode or decode on a card of this memory bandwidth.
Seconds encode_time(const Codec& codec, double values, BytesPerSecond memory_bandwidth);
Seconds decode_time(const Codec& codec, double values, BytesPerSecond memory_bandwidth);

}  // namespace gpuscale

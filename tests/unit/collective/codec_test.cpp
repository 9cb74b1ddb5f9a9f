#include "collective/codec.hpp"

#include <doctest/doctest.h>

using namespace gpuscale;

TEST_SUITE("collective") {
  TEST_CASE("codecs shrink 32-bit numbers by their bits") {
    CHECK(encoded_size(codec(CodecKind::none), 1e6, 4_MB) == 4_MB);
    CHECK(encoded_size(codec(CodecKind::fp16), 1e6, 4_MB) == 2_MB);
    CHECK(encoded_size(codec(CodecKind::int8), 1e6, 4_MB) == 1_MB);
    CHECK(encoded_size(codec(CodecKind::one_bit), 1e6, 4_MB) == 125_kB);
  }

  TEST_CASE("a codec never grows what it encodes") { CHECK(encoded_size(codec(CodecKind::fp16), 1e6, 1_MB) == 1_MB); }

  TEST_CASE("8-bit codes cost a tenth of a nanosecond to make on the card of the paper") {
    // arXiv:1511.04561, data files: 0.1 and 0.05 ns a number.
    CHECK(encode_time(codec(CodecKind::int8), 1e9, kCodecReferenceBandwidth).count() ==
          doctest::Approx(0.1).epsilon(1e-12));
    CHECK(decode_time(codec(CodecKind::int8), 1e9, kCodecReferenceBandwidth).count() ==
          doctest::Approx(0.05).epsilon(1e-12));
  }

  TEST_CASE("a card with twice the memory bandwidth encodes in half the time") {
    const Codec& code = codec(CodecKind::one_bit);
    CHECK(encode_time(code, 1e6, kCodecReferenceBandwidth * 2.0).count() ==
          doctest::Approx(encode_time(code, 1e6, kCodecReferenceBandwidth).count() / 2).epsilon(1e-12));
  }

  TEST_CASE("every codec names where its figures come from") {
    for (const Codec& code : codecs()) CHECK_FALSE(code.source.empty());
  }
}

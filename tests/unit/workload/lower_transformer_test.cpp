#include "model_builder.hpp"

using namespace gpuscale;
using namespace gpuscale::test;

namespace {

TransformerBlockLayer bert_like() { return {.heads = 12, .ffn = 4 * 768}; }

}  // namespace

TEST_SUITE("workload") {
  TEST_CASE("a block has twelve squares of its width and thirteen vectors") {
    for (const std::int64_t width : {768, 1024}) {
      CAPTURE(width);
      const ModelWork work = lowered(sequence(128, width), {{TransformerBlockLayer{.heads = 16, .ffn = 4 * width}}});
      const double h = static_cast<double>(width);
      CHECK(parameter_count(work) == 12 * h * h + 13 * h);
    }
  }

  TEST_CASE("the products of a block cost 24 B s h h and 4 B s s h") {
    // Narayanan et al. 2021 (arXiv:2104.04473), appendix: 24Bsh^2 + 4Bs^2h forward.
    const double s = 512;
    const double h = 768;
    const ModelWork work = lowered(sequence(512, 768), {{bert_like()}}, {.batch = 4});
    CHECK(forward_flop_per_sample(work) == Flop(24 * s * h * h + 4 * s * s * h));
    const auto products = only<GemmKernel>(block_of_parts(work).forward);
    REQUIRE(products.size() == 4);
    CHECK(products[0] == GemmKernel{.m = 3 * 768, .n = 4 * 512, .k = 768, .layout = kTransposedA});
    CHECK(only<GemmKernel>(block_of_parts(work).backward).size() == 8);
    CHECK(only<AttentionKernel>(block_of_parts(work).backward).size() == 1);
  }

  TEST_CASE("a causal block counts all of the scores as published counts do") {
    TransformerBlockLayer causal = bert_like();
    causal.causal = true;
    const Flop all = forward_flop_per_sample(lowered(sequence(512, 768), {{bert_like()}}));
    const Flop used = forward_flop_per_sample(lowered(sequence(512, 768), {{causal}}));
    CHECK(used == all);
  }

  TEST_CASE("a block keeps the activations of the published formula") {
    // Korthikanti et al. 2022 (arXiv:2205.05198), equation 2: sbh (34 + 5as/h) bytes in 16 bit.
    // Statistics of the two norms, 8 bytes a row, are left out there.
    const double s = 1024;
    const double b = 4;
    const double h = 768;
    const double a = 12;
    const ModelWork work =
        lowered(sequence(1024, 768), {{bert_like()}, {bert_like()}}, {.batch = 4, .precision = Precision::fp16});
    CHECK(block_of_parts(work, 2).saved == Bytes(s * b * h * 34 + 5 * a * s * s * b + 2 * 8 * s * b));
    const ModelWork fused = lowered(sequence(1024, 768), {{bert_like()}, {bert_like()}},
                                    {.batch = 4, .precision = Precision::fp16, .fused_attention = true});
    CHECK(block_of_parts(fused, 2).saved == Bytes(s * b * h * 34 + 4 * a * s * b + 2 * 8 * s * b));
  }

  TEST_CASE("ranks of a tensor group keep the published parts of the activations") {
    // Korthikanti et al. 2022 (arXiv:2205.05198), equations 2 and 4: sbh (10 + 24/t + 5as/(ht)) bytes, with sequence
    // parallelism sbh/t (34 + 5as/h). Statistics of the two norms, 8 bytes a row, are left out there.
    const double s = 1024;
    const double b = 4;
    const double h = 768;
    const double a = 12;
    for (const double t : {2.0, 4.0}) {
      CAPTURE(t);
      LowerOptions options{.batch = 4, .precision = Precision::fp16, .tensor = static_cast<int>(t)};
      const std::vector<LayerSpec> blocks = {{bert_like()}, {bert_like()}};
      const LayerWork plain = block_of_parts(lowered(sequence(1024, 768), blocks, options), 2);
      CHECK(plain.saved.count() == doctest::Approx(s * b * h * (10 + 24 / t + 5 * a * s / (h * t)) + 2 * 8 * s * b));
      options.sequence_parallel = true;
      const LayerWork divided = block_of_parts(lowered(sequence(1024, 768), blocks, options), 2);
      CHECK(divided.saved.count() == doctest::Approx(s * b * h / t * (34 + 5 * a * s / h) + 2 * 8 * s * b / t));
      CHECK(parameter_count(divided) < (12 * h * h) / t + 13 * h);
    }
  }

  TEST_CASE("recompute by operator keeps half of the outputs of a block's products and its attention") {
    // torchtitan's policy (arXiv:2410.06511) keeps every second product and the attention. In units of s b h numbers
    // the products of Llama 3 8B give 1 + 1/2 (queries, keys and values) + 1 + 2 x 3.5 + 1, attention gives 1.
    const TransformerBlockLayer llama{.heads = 32,
                                      .kv_heads = 8,
                                      .ffn = 14336,
                                      .activation = FeedForward::swiglu,
                                      .norm = BlockNorm::rms_norm,
                                      .bias = false};
    const ModelWork work =
        lowered(sequence(128, 4096), {{llama}}, {.batch = 2, .precision = Precision::bf16, .fused_attention = true});
    const Bytes tensor(2.0 * 128 * 4096 * 2);
    Bytes kept;
    for (const LayerWork& layer : work.layers) kept += layer.kept_by_alternate;
    CHECK(kept == tensor * (10.5 / 2 + 1));
  }

  TEST_CASE("a DTensor keeps the inputs that its group gathers and does not gather them again") {
    const LowerOptions megatron{
        .batch = 4, .precision = Precision::fp16, .fused_attention = true, .tensor = 4, .sequence_parallel = true};
    LowerOptions dtensor = megatron;
    dtensor.dtensor = true;
    const LayerWork again = block_of_parts(lowered(sequence(512, 768), {{bert_like()}}, megatron));
    const LayerWork kept = block_of_parts(lowered(sequence(512, 768), {{bert_like()}}, dtensor));
    const Bytes tensor(4.0 * 512 * 768 * 2);
    CHECK(kept.saved - again.saved == 2.0 * tensor * (3.0 / 4.0));                 // attention and feed-forward net
    CHECK(again.backward_exchanges.size() - kept.backward_exchanges.size() == 1);  // of the first part
  }

  TEST_CASE("a tensor group sums outputs forward and input errors backward in both parts of a block") {
    // Shoeybi et al. 2019 (arXiv:1909.08053), section 3: two all-reduces each way; with sequence parallelism
    // (arXiv:2205.05198) a gather and a scattered sum in place of each.
    const Bytes tensor(2.0 * 4 * 512 * 768);
    for (const bool by_positions : {false, true}) {
      const ModelWork work =
          lowered(sequence(512, 768), {{bert_like()}},
                  {.batch = 4, .precision = Precision::fp16, .tensor = 4, .sequence_parallel = by_positions});
      for (const std::size_t part : {0UL, 1UL}) {
        const std::vector<LayerExchange>& forward = work.layers[part].forward_exchanges;
        REQUIRE(forward.size() == (by_positions ? 2 : 1));
        for (const LayerExchange& exchange : forward) CHECK(exchange.size == tensor);
        CHECK(forward.back().what == (by_positions ? LayerCollective::reduce_scatter : LayerCollective::all_reduce));
        CHECK(work.layers[part].backward_exchanges.size() == (by_positions ? 3 : 1));
      }
    }
  }

  TEST_CASE("a stage may begin with a block and not within one") {
    const ModelWork work = lowered(sequence(64, 768), {{bert_like()}, {bert_like()}}, {.batch = 2});
    CHECK(work.layers[0].boundary == Bytes(4.0 * 2 * 64 * 768));
    CHECK_FALSE(work.layers[1].boundary.has_value());
    CHECK(work.layers[2].boundary.has_value());
  }

  TEST_CASE("a block dispatches about twenty operators and fewer when fused") {
    const ModelWork plain = lowered(sequence(128, 768), {{bert_like()}});
    CHECK(block_of_parts(plain).forward_operators >= 17);
    CHECK(block_of_parts(plain).forward_operators <= 23);
    const ModelWork fused =
        lowered(sequence(128, 768), {{bert_like()}}, {.fused_elementwise = true, .fused_attention = true});
    CHECK(block_of_parts(fused).forward_operators < block_of_parts(plain).forward_operators);
    CHECK(moved(block_of_parts(fused).forward) < moved(block_of_parts(plain).forward));
    CHECK(block_of_parts(fused).forward_flop == block_of_parts(plain).forward_flop);
  }

  TEST_CASE("a grouped gated block without biases has the parameters of Llama") {
    // Touvron et al. 2023, Llama 2 70B: width 8192, 64 heads, 8 key heads, ffn 28672.
    const ModelWork work = lowered(sequence(16, 8192), {{TransformerBlockLayer{.heads = 64,
                                                                               .kv_heads = 8,
                                                                               .ffn = 28672,
                                                                               .causal = true,
                                                                               .activation = FeedForward::swiglu,
                                                                               .norm = BlockNorm::rms_norm,
                                                                               .bias = false,
                                                                               .dropout = false}}});
    CHECK(parameter_count(work) == 2.0 * 8192 * 8192 + 2.0 * 8192 * 1024 + 3.0 * 8192 * 28672 + 2 * 8192);
    CHECK(only<GemmKernel>(block_of_parts(work).forward).size() == 5);
  }

  TEST_CASE("a decoder block also projects queries keys and values over the encoder") {
    const TransformerBlockLayer self{.heads = 8, .ffn = 2048, .activation = FeedForward::relu};
    TransformerBlockLayer cross = self;
    cross.causal = true;
    cross.cross = true;
    const EmbeddingLayer words{.vocabulary = 1000, .width = 512};
    const ModelWork work = lowered(
        tokens(30), {{EncoderDecoderLayer{.encoder = {{words}, {self}},
                                          .decoder = {{words}, {cross}, {LinearLayer{.out = 1000, .bias = false}}}}}});
    REQUIRE(work.layers.size() == 9);
    const double h = 512;
    CHECK(parameter_count(block_of_parts(work, 1)) == 4 * h * h + 2 * 4 * h * h + 9 * h + 2048);
    CHECK(parameter_count(block_of_parts(work, 4, 3)) == 8 * h * h + 2 * 4 * h * h + 15 * h + 2048);
    CHECK(work.layers[1].name == "encoder_decoder1.encoder.transformer_block1.attention");
    CHECK(work.input == Bytes(2.0 * 30 * 4));
    CHECK(work.tokens_per_sample == 30);
  }

  TEST_CASE("an attention layer alone has four projections") {
    const ModelWork work = lowered(sequence(64, 256), {{AttentionLayer{.heads = 4}}});
    CHECK(parameter_count(work) == 4 * 256 * 256 + 4 * 256);
    const AttentionKernel kernel{.query_length = 64, .key_length = 64, .heads = 4, .kv_heads = 4, .head_size = 64};
    CHECK(only<AttentionKernel>(work.layers[0].forward) == std::vector{kernel});
    // Nothing before it is trained: only the output projection sends errors back.
    CHECK(only<GemmKernel>(work.layers[0].backward).size() == 3);
  }

  TEST_CASE("additive attention appends a context of the encoder") {
    const EmbeddingLayer words{.vocabulary = 1000, .width = 32};
    const ModelWork work =
        lowered(tokens(10), {{EncoderDecoderLayer{.encoder = {{words}, {RecurrentLayer{.hidden = 48}}},
                                                  .decoder = {{words}, {AdditiveAttentionLayer{.width = 16}}}}}});
    const LayerWork& attention = work.layers[3];
    CHECK(attention.kind == "additive_attention");
    CHECK(attention.out == sequence(10, 32 + 48));
    CHECK(parameter_count(attention) == 16 * 32 + 16 * 48 + 16);
    CHECK(attention.forward_flop == Flop(2.0 * (10 * 32 * 16 + 10 * 48 * 16 + 10 * 10 * 48)));
  }

  TEST_CASE("a sequence length from the scenario replaces that of the model") {
    const ModelWork work = lowered(tokens(128), {{EmbeddingLayer{.vocabulary = 100, .width = 8}}}, {.sequence = 32});
    CHECK(work.sequence_length == 32);
    CHECK(work.layers[0].out == sequence(32, 8));
  }

  TEST_CASE("the first token leaves the sequence") {
    const ModelWork work = lowered(sequence(128, 8), {{LinearLayer{.out = 6}}, {FirstTokenLayer{}}});
    CHECK(work.layers[1].out == features(6));
    CHECK(moved(work.layers[1].backward) == Bytes(4.0 * (6 + 128 * 6)));
  }
}

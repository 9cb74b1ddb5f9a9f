#include "report/facts.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "report/point_columns.hpp"
#include "report/text_style.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

std::string machine(const Report& report) {
  return report.nodes > 1 ? fmt::format("{} x {}", report.nodes, report.machine) : report.machine;
}

/// A number of samples: whole as a rule.
std::string samples(double count) {
  return count == std::round(count) ? fmt::format("{:.0f}", count) : fmt::format("{:.2f}", count);
}

bool has_unlike_batches(const Report& report) {
  return std::ranges::any_of(report.cards, [&](const CardReport& card) {
    return card.least_batch != report.batch_per_gpu || card.most_batch != report.batch_per_gpu;
  });
}

std::string batch(const Report& report) {
  if (has_unlike_batches(report)) {
    std::string text =
        fmt::format("{} in all ({} scaling): ", samples(report.global_batch), report.weak_scaling ? "weak" : "strong");
    for (const CardReport& card : report.cards) {
      if (&card != report.cards.data()) text += ", ";
      text += fmt::format("{} per {}", batch_text(card), card.gpu);
    }
    return text;
  }
  return fmt::format("{} per GPU, {} in all ({} scaling)", samples(report.batch_per_gpu), samples(report.global_batch),
                     report.weak_scaling ? "weak" : "strong");
}

std::string step_time(const Report& report) {
  if (report.step_time_low == report.step_time_high) return to_text(report.step_time);
  return fmt::format("{} (between {} and {})", to_text(report.step_time), to_text(report.step_time_low),
                     to_text(report.step_time_high));
}

std::string throughput(const Report& report) {
  const std::string samples = fmt::format("{} samples/s", number_text(report.throughput));
  if (!report.throughput_tokens) return samples;
  return fmt::format("{}, {} tokens/s", samples, number_text(*report.throughput_tokens));
}

std::string speedup(const Report& report) {
  std::string text = fmt::format("{:.2f}x on {} GPU{}", *report.speedup, report.gpus, report.gpus == 1 ? "" : "s");
  if (report.efficiency) text += fmt::format(", efficiency {}", percent_text(*report.efficiency));
  if (!report.baseline.empty()) text += fmt::format(" (against {})", report.baseline);
  return text;
}

std::string sent(const Report& report) {
  const std::string unit = is_transfer(report) ? "" : " a step by each GPU";
  if (report.exchange_uncompressed_per_gpu <= report.exchanged_per_gpu) {
    return to_text(report.exchanged_per_gpu) + unit;
  }
  return fmt::format("{}{} ({} without the codec)", to_text(report.exchanged_per_gpu), unit,
                     to_text(report.exchange_uncompressed_per_gpu));
}

/// "int8: 4.0x fewer bytes, exchange 12.1 ms -> 4.0 ms, step 1.31x faster".
std::string codec_gain(const Report& report) {
  const CodecGain& gain = *report.codec_gain;
  const double faster = gain.step_time_without / report.step_time;
  return fmt::format("{}: {:.1f}x fewer bytes, exchange {} -> {}, {} {:.2f}x {}", gain.codecs,
                     report.exchange_uncompressed_per_gpu / report.exchanged_per_gpu, to_text(gain.exchanging_without),
                     to_text(report.exchanging), is_transfer(report) ? "copy" : "step",
                     faster < 1 ? 1 / faster : faster, faster < 1 ? "slower" : "faster");
}

}  // namespace

std::vector<Fact> what_runs(const Report& report) {
  std::vector<Fact> facts = {
      {"model", report.model},
      {"GPUs", report.unlike_gpus ? report.gpu : fmt::format("{} x {}", report.gpus, report.gpu)},
      {"machine", machine(report)},
      {"framework", report.framework},
      {"strategy", report.strategy}};
  if (is_transfer(report)) facts.erase(facts.begin());
  if (!is_transfer(report)) facts.push_back({"batch", batch(report)});
  std::erase_if(facts, [](const Fact& fact) { return fact.text.empty(); });
  return facts;
}

std::vector<Fact> headline(const Report& report) {
  std::vector<Fact> facts;
  facts.push_back({is_transfer(report) ? "time" : "step time", step_time(report)});
  if (!is_transfer(report)) facts.push_back({"throughput", throughput(report)});
  if (report.speedup) facts.push_back({"speed-up", speedup(report)});
  if (report.model_flop_utilisation) {
    facts.push_back(
        {"utilisation", fmt::format("{} of the peak FLOP/s (MFU)", percent_text(*report.model_flop_utilisation))});
  }
  if (report.exchanged_per_gpu.count() > 0) facts.push_back({"sent", sent(report)});
  if (report.codec_gain && report.exchanged_per_gpu.count() > 0) facts.push_back({"codec", codec_gain(report)});
  return facts;
}

std::string batch_text(const CardReport& card) {
  if (card.least_batch == card.most_batch) return samples(card.most_batch);
  return fmt::format("{} to {}", samples(card.least_batch), samples(card.most_batch));
}

TwoTexts memory_texts(const Report& report) {
  return told_apart(report.memory.footprint.total(), report.memory.capacity);
}

std::string largest_batch_text(const Report& report) {
  if (report.memory.largest_batch_per_gpu < 1) return "not even one sample per GPU would";
  return fmt::format("up to {:.0f} samples per GPU", report.memory.largest_batch_per_gpu);
}

}  // namespace gpuscale

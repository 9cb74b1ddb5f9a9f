#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <string>

#include "exit_code.hpp"
#include "hardware_options.hpp"
#include "options.hpp"
#include "output.hpp"
#include "scenario/transport_reader.hpp"
#include "study/exchange_output.hpp"
#include "study/exchange_table.hpp"
#include "study/message_sizes.hpp"
#include "units/diagnostic.hpp"
#include "units/quantity_text.hpp"
#include "write_result.hpp"

namespace gpuscale::tool {

namespace {

/// NCCL as it is used with cards of that time: those before Ampere were measured with versions of 2017 to 2020.
std::string usual_framework(const Gpu& gpu) { return gpu.launched < "2020" ? "pytorch-ddp" : "pytorch-2"; }

/// The words of the options, as they were given.
struct ExchangeWords {
  std::string collective = "all-reduce";
  std::string bytes = "8..1G";
  std::string factor = "2";
  std::string algorithm = "auto";
  std::string codec = "none";
  std::string ranks;
  std::string transport;

  void add_to(ArgumentParser& parser) {
    parser.value("collective,c", "NAME", collective,
                 "all-reduce (default), reduce-scatter, all-gather, all-to-all, broadcast, reduce or send");
    parser.value("bytes,b", "SIZES", bytes,
                 "message sizes: 8, 1K, 64 MiB, a range such as 8..1G (default), or several with commas; K M G are "
                 "powers of 1024, as in nccl-tests");
    parser.value("factor", "X", factor, "from one size of a range to the next (default: 2)");
    parser.value("algorithm,a", "NAME", algorithm,
                 "auto (default: the fastest for each size), ring, direct, double_tree, halving_doubling, "
                 "hierarchical, in_switch...");
    parser.value("codec", "NAME", codec, "none (default), fp16, int8, one_bit or top_k");
    parser.value("ranks", "LIST", ranks, "which of the GPUs take part, as in 0,2,4-7 (default: all)");
  }
};

/// The place of a word among names that options know.
template <class Names>
std::size_t place_of(const std::string& word, const Names& names, std::string_view what) {
  const auto found = std::ranges::find(names, word);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw UsageError(fmt::format("{} is no {}; there are {}{}", in_quotes(word), what, fmt::join(names, ", "),
                               did_you_mean(word, names)));
}

CodecKind codec_named(const std::string& word) {
  std::vector<std::string_view> names;
  for (const Codec& codec : codecs()) names.push_back(codec.name);
  return codecs()[place_of(word, names, "codec")].kind;
}

ExchangeQuery query_of(const ExchangeWords& words) {
  ExchangeQuery query;
  query.what = static_cast<Collective>(place_of(words.collective, kCollectiveNames, "collective"));
  query.algorithm = static_cast<ExchangeAlgorithm>(place_of(words.algorithm, kExchangeAlgorithmNames, "algorithm"));
  query.codec = codec_named(words.codec);
  const QuantityReading factor = read_number(words.factor, 1, 1e6);
  if (!factor.ok()) throw UsageError("--factor is a number above 1, such as 2");
  query.sizes = usage_checked([&] { return read_message_sizes(words.bytes, factor.value); });
  return query;
}

}  // namespace

int exchange_command(const Invocation& invocation) {
  ArgumentParser parser("exchange FILE|--machine NAME [options]",
                        "Times a collective alone over message sizes, and prints what nccl-tests print: time, bytes "
                        "over time (algbw) and the rate on the wire (busbw). FILE is a scenario, a cluster file or a "
                        "machine file.");
  HardwareOptions hardware_options;
  ExchangeWords words;
  OutputOptions output;
  hardware_options.add_to(parser);
  parser.value("framework", "NAME", hardware_options.framework,
               "whose transport carries it (default: pytorch-2, with NCCL 2.27, for GPUs launched in 2020 or later and "
               "pytorch-ddp, with NCCL as of 2019, for older ones)");
  parser.value("transport", "NAME", words.transport, "the transport itself, in place of a framework's");
  words.add_to(parser);
  output.add_to(parser);
  parser.example("gpuscale exchange --machine dgx-1-v100 --gpu v100-sxm2");
  parser.example("gpuscale exchange job.yaml --collective all-gather --bytes 1M..1G --factor 4 --format csv");
  if (!parser.parse(invocation.arguments)) return kDone;
  static_cast<void>(read_format(output.format));
  ExchangeQuery query = query_of(words);
  Hardware hardware = hardware_options.load(invocation, &usual_framework);
  if (!words.transport.empty()) {
    hardware.framework.transport = load_transport(words.transport, open_library(invocation));
    hardware.framework.id = words.transport;
  }
  Result result(output.output, hardware_options.inputs());

  const Cluster cluster = build_cluster(hardware.cluster, host_copies(hardware.framework.transport));
  if (!words.ranks.empty()) {
    query.ranks = usage_checked([&] { return read_ranks(words.ranks, cluster.ranks.size()); });
  }
  write_result(result, usage_checked([&] { return exchange_table(query, hardware, cluster); }), output);
  result.finish();
  return kDone;
}

}  // namespace gpuscale::tool

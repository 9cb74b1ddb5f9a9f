#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "exit_code.hpp"
#include "hardware_options.hpp"
#include "options.hpp"
#include "output.hpp"
#include "study/topology_drawing.hpp"
#include "study/topology_output.hpp"
#include "study/topology_report.hpp"

namespace gpuscale::tool {

namespace {

void write(Result& result, const TopologyReport& report, const OutputOptions& options) {
  switch (read_format(options.format)) {
    case Format::table:
      return write_text(result.stream(), report, result.style(options.verbose));
    case Format::json:
      return write_json(result.stream(), report);
    case Format::csv:
      return write_csv(result.stream(), report);
    case Format::md:
      return write_markdown(result.stream(), report, options.verbose);
  }
}

using Drawing = std::string (*)(const TopologyReport&, const Cluster&);

/// A drawing to a file of its own, opened before the work starts. An empty path asks for none.
class DrawingFile {
 public:
  DrawingFile(const std::string& path, Drawing drawing, const std::vector<std::filesystem::path>& inputs)
      : drawing_(drawing) {
    if (!path.empty()) result_ = std::make_unique<Result>(path, inputs);
  }
  void write(const TopologyReport& report, const Cluster& cluster) {
    if (!result_) return;
    result_->stream() << drawing_(report, cluster);
    result_->finish();
  }

 private:
  Drawing drawing_;
  std::unique_ptr<Result> result_;
};

}  // namespace

int topo_command(const Invocation& invocation) {
  ArgumentParser parser("topo FILE|--machine NAME [options]",
                        "Checks and describes a machine or cluster: how devices are joined (as nvidia-smi topo -m "
                        "prints it), what copies between GPUs get alone and all at once, latency, host copies, "
                        "bisection bandwidth. FILE is a scenario, a cluster file or a machine file.");
  HardwareOptions hardware_options;
  OutputOptions output;
  std::string dot;
  std::string svg;
  hardware_options.add_to(parser);
  parser.value("svg", "FILE", svg, "draw it as a picture; for several boxes one of them and the network");
  parser.value("dot", "FILE", dot, "the same for Graphviz");
  output.add_to(parser);
  parser.example("gpuscale topo --machine dgx-1-v100 --gpu v100-sxm2 --svg dgx-1.svg");
  parser.example("gpuscale topo --machine dgx-1-v100 --gpu v100-sxm2 --nodes 8 --fabric edr-infiniband");
  parser.example("gpuscale topo workloads/scenarios/quickstart.yaml --format json");
  if (!parser.parse(invocation.arguments)) return kDone;
  static_cast<void>(read_format(output.format));
  const Hardware hardware = hardware_options.load(invocation);
  const std::vector<std::filesystem::path> inputs = hardware_options.inputs();
  Result result(output.output, inputs);
  DrawingFile dot_file(dot, &topology_dot, inputs);
  DrawingFile svg_file(svg, &topology_svg, inputs);

  const Cluster cluster = build_cluster(hardware.cluster);
  const TopologyReport report = describe(hardware, cluster);
  dot_file.write(report, cluster);
  svg_file.write(report, cluster);
  write(result, report, output);
  result.finish();
  return kDone;
}

}  // namespace gpuscale::tool

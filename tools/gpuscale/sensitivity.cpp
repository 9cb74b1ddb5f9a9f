#include "study/sensitivity.hpp"

#include <fmt/format.h>

#include "exit_code.hpp"
#include "interrupt.hpp"
#include "options.hpp"
#include "output.hpp"
#include "scenario_argument.hpp"
#include "study/axis_text.hpp"
#include "study/sensitivity_output.hpp"
#include "write_result.hpp"

namespace gpuscale::tool {

int sensitivity_command(const Invocation& invocation) {
  ArgumentParser parser("sensitivity SCENARIO [options]",
                        "Simulates the job again with each figure of its hardware 10 % better, 10 % worse, and half as "
                        "good or not there, and ranks the figures by what would be missed most: matrix units, FLOP/s, "
                        "memory bandwidth, 16-bit numbers, clock, memory size, links, host, input.");
  std::vector<std::string> files;
  std::vector<std::string> set;
  OutputOptions output;
  JobsOption jobs;
  parser.rest(files);
  parser.list("set,s", "PATH=VALUE", set, "set a key of the scenario, as in --set cluster.gpus=4; may be repeated");
  jobs.add_to(parser);
  output.add_to(parser);
  parser.example("gpuscale sensitivity workloads/scenarios/quickstart.yaml");
  parser.example("gpuscale sensitivity job.yaml --set workload.precision=fp16 --format csv");
  if (!parser.parse(invocation.arguments)) return kDone;
  if (files.size() != 1) throw UsageError("give one scenario file or name, or - for standard input");
  static_cast<void>(read_format(output.format));
  std::vector<Setting> settings;
  for (const std::string& text : set) settings.push_back(usage_checked([&] { return read_setting(text); }));
  const int threads = jobs.count();
  const Library library = open_library(invocation);
  const std::filesystem::path path = scenario_path(files.front(), library);
  Result result(output.output, {path});

  const Scenario scenario = ScenarioFile::open(path).resolve(library, settings);
  Sensitivity found;
  {
    const InterruptWatch watch([] { say("interrupted: nothing is finished"); }, output.quiet);
    found = examine_sensitivity(scenario, threads, &watch.flag());
    if (watch.flag()) {
      say("interrupted: nothing is finished");
      return kInterrupted;
    }
  }
  write_result(result, found, output);
  result.finish();
  return kDone;
}

}  // namespace gpuscale::tool

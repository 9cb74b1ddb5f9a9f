#include "report/csv.hpp"

#include <doctest/doctest.h>
#include <sstream>
#include <string>
#include <vector>

#include "sample_report.hpp"

using namespace gpuscale;

namespace {

std::string text_of(const std::vector<Report>& reports) {
  std::ostringstream out;
  write_csv(out, std::span<const Report>(reports));
  return out.str();
}

}  // namespace

TEST_SUITE("report") {
  TEST_CASE("a CSV table has set keys first and units in its column names") {
    CHECK(
        text_of({test::sample_report(1), test::sample_report(2)}) ==
        "cluster.gpus,strategy.exchange.codec,scenario,model,gpu,machine,framework,strategy,gpus,nodes,batch_per_gpu,"
        "global_batch,weak_scaling,step_time_s,step_time_low_s,step_time_high_s,throughput_samples_per_s,"
        "throughput_tokens_per_s,speedup,efficiency,baseline,compute_s,host_s,exchange_exposed_s,bubble_s,input_s,"
        "jitter_s,model_flop_utilisation,exchanged_bytes_per_gpu,exchange_uncompressed_bytes_per_gpu,"
        "codecs,codec_exchange_s,codec_exchange_without_s,codec_step_time_without_s,codec_step_speedup,"
        "memory_parameters_bytes,memory_master_weights_bytes,memory_gradients_bytes,memory_optimizer_bytes,"
        "memory_activations_bytes,memory_errors_bytes,memory_workspace_bytes,memory_exchange_bytes,"
        "memory_framework_bytes,memory_total_bytes,memory_capacity_bytes,fits,largest_batch_per_gpu,limited_by\n"
        "1,int8,Sample,Net,Card,Box,Framework,data parallel,1,1,64,64,true,0.25,0.2,0.5,256,,0.75,0.75,one GPU,0.1875,"
        "0,0.0625,0,0,0,,1048576,4194304,,,,,,1073741824,0,0,0,3221225472,0,0,0,0,4294967296,8589934592,true,149,"
        "GPU compute: 75 % of the step\n"
        "2,int8,Sample,Net,Card,Box,Framework,data parallel,2,1,64,128,true,0.25,0.2,0.5,512,,1.5,0.75,one GPU,0.1875,"
        "0,0.0625,0,0,0,,1048576,4194304,,,,,,1073741824,0,0,0,3221225472,0,0,0,0,4294967296,8589934592,true,149,"
        "GPU compute: 75 % of the step\n");
  }

  TEST_CASE("cells are quoted where they must be") {
    CHECK(csv_cell("plain text") == "plain text");
    CHECK(csv_cell("a,b") == "\"a,b\"");
    CHECK(csv_cell("say \"x\"") == "\"say \"\"x\"\"\"");
    CHECK(csv_cell("two\nlines") == "\"two\nlines\"");
    CHECK(csv_cell("") == "");
  }

  TEST_CASE("a swept key that is also a column appears once") {
    Report report = test::sample_report();
    report.settings = {{"framework", "horovod"}};
    const std::string titles = text_of({report}).substr(0, text_of({report}).find('\n'));
    CHECK(titles.starts_with("framework,scenario,model,gpu,machine,strategy,"));
  }

  TEST_CASE("a cell with control characters is quoted") {
    CHECK(csv_cell("a\x1b[2Jb") == "\"a\x1b[2Jb\"");
    CHECK(csv_cell("a\tb") == "\"a\tb\"");
  }

  TEST_CASE("a refused point has its problem in place of figures") {
    Report refused = test::sample_report(3);
    refused.problem = "64 does not divide, by 3";
    const std::string text = text_of({test::sample_report(2), refused});
    CHECK(text.find("limited_by,problem\n") != std::string::npos);
    CHECK(text.find("GPU compute: 75 % of the step,\n") != std::string::npos);
    CHECK(text.find("\n3,int8,Sample,Net,Card,Box,Framework,,3,1,,,") != std::string::npos);
    CHECK(text.ends_with(",,,\"64 does not divide, by 3\"\n"));
    CHECK(text_of({test::sample_report(2)}).find("problem") == std::string::npos);
  }
}

#include "scenario/library.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

using namespace gpuscale;

namespace {
namespace fs = std::filesystem;
fs::path test_root() { return fs::path(GPUSCALE_SOURCE_DIR) / "tests" / "golden" / "errors" / "library"; }
}  // namespace

TEST_SUITE("scenario") {
  TEST_CASE("a name is a file of the first root that has it") {
    const Library library({"/no/such/root", test_root(), GPUSCALE_SOURCE_DIR});
    CHECK(library.find("topologies/gpus", "gtx-1080-ti") == test_root() / "topologies" / "gpus" / "gtx-1080-ti.yaml");
    CHECK(library.find("topologies/gpus", "no-such-card").empty());
  }

  TEST_CASE("a name leads nowhere outside its folder") {
    const Library library({test_root()});
    CHECK(library.find("topologies/gpus", "../links/pcie-3").empty());
    CHECK(library.find("topologies/gpus", "").empty());
    CHECK(library.find("topologies/gpus", std::string(5000, 'x')).empty());
    CHECK(library.find("topologies/gpus", std::string_view("gtx-1080-ti\0", 12)).empty());
  }

  TEST_CASE("names of all roots are sorted and told once") {
    const Library library({test_root(), test_root(), "/no/such/root"});
    CHECK(library.names("workloads/frameworks") == std::vector<std::string>{"pytorch-dataparallel", "pytorch-ddp"});
    CHECK(library.names("no/such/folder").empty());
  }

  TEST_CASE("the search path comes before the tree of the program") {
    const char* before = std::getenv("GPUSCALE_PATH");
    const std::string kept = before == nullptr ? "" : before;
    const std::string path = "/no/such/root:" + test_root().string() + ":";
    setenv("GPUSCALE_PATH", path.c_str(), 1);
    const Library library = Library::standard(fs::path(GPUSCALE_SOURCE_DIR) / "topologies" / "README.md");
    if (before == nullptr) {
      unsetenv("GPUSCALE_PATH");
    } else {
      setenv("GPUSCALE_PATH", kept.c_str(), 1);
    }
    REQUIRE(library.roots().size() >= 2);
    CHECK(library.roots()[0] == test_root());
    CHECK(fs::equivalent(library.roots()[1], GPUSCALE_SOURCE_DIR));
    CHECK(library.useless() == std::vector<fs::path>{"/no/such/root"});
    REQUIRE(library.searched().size() >= 3);
    CHECK(library.searched()[0] == "/no/such/root");
  }

  TEST_CASE("a document is read once") {
    const Library library({test_root()});
    const fs::path file = library.find("topologies/gpus", "gtx-1080-ti");
    CHECK(library.document(file) == library.document(file));
  }
}

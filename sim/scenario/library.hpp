#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpuscale {

struct YamlDocument;

/// Where data files are found: a list of roots, each with topologies/ and workloads/ inside, searched
/// in order. A name such as `gtx-1080-ti` is `topologies/gpus/gtx-1080-ti.yaml` below the first root
/// that has it.
///
/// A file is read and parsed once in the life of a library and its copies, whatever happens to it on
/// disk; safe to use from several threads.
class Library {
 public:
  explicit Library(std::vector<std::filesystem::path> roots);

  /// GPUSCALE_PATH (colon-separated), then the install or source tree of the program, then
  /// $XDG_DATA_HOME/gpuscale or ~/.local/share/gpuscale.
  static Library standard(const std::filesystem::path& program);

  /// The file of a name in a folder such as "topologies/gpus", or an empty path.
  [[nodiscard]] std::filesystem::path find(std::string_view folder, std::string_view name) const;

  /// All names in a folder over all roots, sorted, each once.
  [[nodiscard]] std::vector<std::string> names(std::string_view folder) const;

  /// A file as it is called within the root it lies in, such as topologies/gpus/k80-die.yaml; a file of
  /// no root as it is. What reports name, so that they are the same on every machine.
  [[nodiscard]] std::string within(const std::filesystem::path& file) const;

  [[nodiscard]] const std::vector<std::filesystem::path>& roots() const { return roots_; }

  /// Of a standard library: the folders of GPUSCALE_PATH that are none or have no data, as they stand there.
  [[nodiscard]] const std::vector<std::filesystem::path>& useless() const { return useless_; }

  /// Of a standard library: where roots were looked for, whether there is one or not.
  [[nodiscard]] const std::vector<std::filesystem::path>& searched() const { return searched_; }

  /// The document in a file; what is wrong with it as a file or as YAML is among its problems.
  [[nodiscard]] std::shared_ptr<const YamlDocument> document(const std::filesystem::path& file) const;

 private:
  struct Cache;

  std::vector<std::filesystem::path> roots_;
  std::vector<std::filesystem::path> useless_;
  std::vector<std::filesystem::path> searched_;
  std::shared_ptr<Cache> cache_;
};

}  // namespace gpuscale

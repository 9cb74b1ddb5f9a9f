#include "scenario/library.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <system_error>

#include "scenario/read_file.hpp"
#include "scenario/yaml_parse.hpp"
#include "units/sort_unique.hpp"

namespace gpuscale {

namespace fs = std::filesystem;

namespace {

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool has_data(const fs::path& root) { return is_folder(root / "topologies") || is_folder(root / "workloads"); }

/// A name stands for one file of one folder: no way out of it, nothing a file system would cut short.
bool is_name(std::string_view name) {
  constexpr std::size_t kLongestName = 200;
  const auto is_odd = [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20; };
  return !name.empty() && name.size() <= kLongestName && std::ranges::none_of(name, is_odd);
}

/// Roots as they are found.
struct RootSearch {
  std::vector<fs::path> roots;
  std::vector<fs::path> useless;
  std::vector<fs::path> searched;

  /// False if there is no data.
  bool add(const fs::path& root) {
    searched.push_back(root);
    if (!has_data(root)) return false;
    if (std::ranges::find(roots, root) == roots.end()) roots.push_back(root);
    return true;
  }

  void add_search_path(std::string_view paths) {
    while (!paths.empty()) {
      const std::string_view path = paths.substr(0, paths.find(':'));
      if (!path.empty() && !add(fs::path(path))) useless.emplace_back(path);
      paths.remove_prefix(std::min(paths.size(), path.size() + 1));
    }
  }

  /// The nearest folder above the program that has data, as a source tree or an install tree.
  void add_tree_of(const fs::path& program) {
    std::error_code error;
    fs::path folder = fs::canonical(program, error);
    if (error || !is_file(folder)) folder = fs::read_symlink("/proc/self/exe", error);
    while (folder.has_relative_path()) {
      folder = folder.parent_path();
      if (add(folder) || add(folder / "share" / "gpuscale")) return;
    }
  }
};

}  // namespace

struct Library::Cache {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const YamlDocument>, std::less<>> documents;
};

Library::Library(std::vector<fs::path> roots) : roots_(std::move(roots)), cache_(std::make_shared<Cache>()) {}

Library Library::standard(const fs::path& program) {
  RootSearch search;
  if (const char* paths = std::getenv("GPUSCALE_PATH")) search.add_search_path(paths);
  search.add_tree_of(program);
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && *data != '\0') {
    search.add(fs::path(data) / "gpuscale");
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    search.add(fs::path(home) / ".local" / "share" / "gpuscale");
  }
  Library library(std::move(search.roots));
  library.useless_ = std::move(search.useless);
  library.searched_ = std::move(search.searched);
  return library;
}

fs::path Library::find(std::string_view folder, std::string_view name) const {
  if (!is_name(name)) return {};
  for (const fs::path& root : roots_) {
    fs::path file = root / folder / (std::string(name) + ".yaml");
    if (is_file(file)) return file;
  }
  return {};
}

std::vector<std::string> Library::names(std::string_view folder) const {
  std::vector<std::string> names;
  for (const fs::path& root : roots_) {
    std::error_code error;
    for (fs::directory_iterator entry(root / folder, error), end; !error && entry != end; entry.increment(error)) {
      if (entry->path().extension() == ".yaml" && is_file(entry->path()))
        names.push_back(entry->path().stem().string());
    }
  }
  sort_unique(names);
  return names;
}

std::shared_ptr<const YamlDocument> Library::document(const fs::path& file) const {
  const std::string name = file.string();
  {
    const std::scoped_lock lock(cache_->mutex);
    if (const auto found = cache_->documents.find(name); found != cache_->documents.end()) return found->second;
  }
  auto document = std::make_shared<YamlDocument>();
  const FileText text = read_file(file);
  if (text.problem.empty()) {
    *document = parse_yaml(text.text, name);
  } else {
    document->problems.push_back({{name, 0, 0}, text.problem});
  }
  const std::scoped_lock lock(cache_->mutex);
  return cache_->documents.try_emplace(name, std::move(document)).first->second;
}

std::string Library::within(const fs::path& file) const {
  for (const fs::path& root : roots_) {
    const fs::path relative = file.lexically_relative(root);
    if (!relative.empty() && *relative.begin() != "..") return relative.generic_string();
  }
  return file.generic_string();
}

}  // namespace gpuscale

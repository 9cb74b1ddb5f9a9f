#include "scenario/read_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <system_error>

#include "scenario/text_checks.hpp"

namespace gpuscale {

namespace fs = std::filesystem;

namespace {

std::string read_some(std::istream& in) {
  std::string text;
  std::array<char, 65536> block{};
  while (in && text.size() <= kLargestFile) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(in.gcount()));
  }
  return text;
}

}  // namespace

FileText read_stream(const fs::path& path) {
  if (path == "-") return {read_some(std::cin), {}};
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return {{}, "there is no such file"};
  if (!fs::exists(status)) return {{}, fmt::format("cannot be read: {}", error.message())};
  if (fs::is_directory(status)) return {{}, "is a folder; name a file in it"};
  std::ifstream in(path, std::ios::binary);
  if (!in) return {{}, fmt::format("cannot be read: {}", std::strerror(errno))};
  return {read_some(in), {}};
}

FileText read_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::exists(status) && !fs::is_directory(status) && !fs::is_regular_file(status)) {
    return {{}, "is not a regular file; data is read from regular files only"};
  }
  return read_stream(path);
}

}  // namespace gpuscale

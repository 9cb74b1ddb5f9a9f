#pragma once

#include <filesystem>
#include <string>

namespace gpuscale {

struct FileText {
  std::string text;
  std::string problem;  ///< empty if the text holds
};

/// The bytes of a regular file of at most kLargestFile.
FileText read_file(const std::filesystem::path& path);

/// The bytes of a file of any sort, such as a pipe, or of standard input ("-"). Reads no more than a
/// little above kLargestFile; check_text then refuses the text.
FileText read_stream(const std::filesystem::path& path);

}  // namespace gpuscale

#pragma once

#include "options.hpp"
#include "output.hpp"

namespace gpuscale::tool {

/// Writes a value in the format asked for, by the write_text(), write_json(), write_csv() and write_markdown() of its
/// own. \throws UsageError if there is no such format
template <class Value>
void write_result(Result& result, const Value& value, const OutputOptions& options) {
  switch (read_format(options.format)) {
    case Format::table:
      return write_text(result.stream(), value, result.style(options.verbose));
    case Format::json:
      return write_json(result.stream(), value);
    case Format::csv:
      return write_csv(result.stream(), value);
    case Format::md:
      return write_markdown(result.stream(), value);
  }
}

}  // namespace gpuscale::tool

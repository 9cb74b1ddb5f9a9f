#pragma once

/// \file
/// A described machine or cluster as text, Markdown, CSV and JSON.

#include <iosfwd>

#include "report/text_style.hpp"
#include "study/topology_report.hpp"

namespace gpuscale {

/// Matrices of links, bandwidth and latency for up to kMatrixGpus GPUs (all if verbose), classes of pairs
/// above, and what copies get together.
void write_text(std::ostream& out, const TopologyReport& report, const TextStyle& style = {});

/// The same tables as pipe tables.
void write_markdown(std::ostream& out, const TopologyReport& report, bool verbose = false);

/// One row an ordered pair of GPUs, units in the column names.
void write_csv(std::ostream& out, const TopologyReport& report);

/// {schema_version, program_version, machine, gpus: [...], adapters: [...], pairs: [...], classes: [...],
/// ring, all_pairs, bisection, provenance}. A key that has no meaning is left out.
void write_json(std::ostream& out, const TopologyReport& report);

/// Above this many GPUs text has no matrices unless asked for.
inline constexpr std::size_t kMatrixGpus = 16;

}  // namespace gpuscale

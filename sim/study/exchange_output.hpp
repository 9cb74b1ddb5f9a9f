#pragma once

/// \file
/// A table of exchanges as text, Markdown, CSV and JSON, with the columns of nccl-tests.

#include <iosfwd>

#include "report/text_style.hpp"
#include "study/exchange_table.hpp"

namespace gpuscale {

void write_text(std::ostream& out, const ExchangeTable& table, const TextStyle& style = {});

void write_markdown(std::ostream& out, const ExchangeTable& table);

/// Units in the column names.
void write_csv(std::ostream& out, const ExchangeTable& table);

/// {schema_version, program_version, collective, machine, gpu, transport, codec, nodes, ranks, rows: [...],
/// average_bus_bandwidth_bytes_per_s, provenance}.
void write_json(std::ostream& out, const ExchangeTable& table);

}  // namespace gpuscale

#include "scenario/written_out_reader.hpp"

#include <optional>

#include "scenario/data_file.hpp"
#include "scenario/map_reader.hpp"

namespace gpuscale {

namespace {

constexpr double kMostPasses = 1000;
constexpr std::int64_t kMostKernels = 1000;

WrittenOut read_operator(const YamlValue& value, Reading& reading) {
  MapReader reader(value, "written-out operator", "-", reading);
  WrittenOut form;
  form.forward = reader.number("forward", 0, kMostPasses);
  form.backward = reader.number("backward", 0, kMostPasses);
  form.forward_kernels = reader.whole("forward_kernels", 0, kMostKernels);
  form.backward_kernels = reader.whole("backward_kernels", 0, kMostKernels);
  form.kept = reader.number_or("kept", 0, 0, kMostPasses);
  form.forward_wide = reader.number_or("forward_wide", 0, 0, form.forward);
  form.backward_wide = reader.number_or("backward_wide", 0, 0, form.backward);
  form.casts = reader.whole_or("casts", 0, 0, kMostKernels);
  reader.finish();
  return form;
}

WrittenOutUpdate read_update(const YamlValue& value, Reading& reading) {
  MapReader reader(value, "written-out update", "-", reading);
  WrittenOutUpdate update;
  update.passes = reader.number("passes", 1, kMostPasses);
  update.kernels = reader.whole("kernels", 1, kMostKernels);
  reader.finish();
  return update;
}

}  // namespace

void read_written_out(const YamlValue& value, Framework& framework, Reading& reading) {
  const std::optional<DataSource> data = find_data(value, kOperatorFiles, reading);
  if (!data) return;
  MapReader reader(*data->map, "operators", "-", reading);
  read_head(reader, *data);
  for (const WrittenOutName& known : kWrittenOutNames) {
    if (const YamlValue* form = reader.find(known.name))
      framework.written_out.*known.operators = read_operator(*form, reading);
  }
  if (const YamlValue* updates = reader.find("update")) {
    MapReader by_optimizer(*updates, "written-out updates", "-", reading);
    for (std::size_t i = 0; i < kOptimizerNames.size(); ++i) {
      if (const YamlValue* update = by_optimizer.find(kOptimizerNames[i]))
        framework.written_out_update[i] = read_update(*update, reading);
    }
    by_optimizer.finish();
  }
  reader.finish();
}

}  // namespace gpuscale

#include "commands.hpp"

#include <algorithm>
#include <array>

namespace gpuscale::tool {

namespace {

constexpr auto kCommands = std::to_array<Command>({
    {"run", "simulate one scenario and print a full report", &run_command},
    {"sweep", "simulate every point of a sweep and print one row each", &sweep_command},
    {"compare", "rank scenarios, or strategies within one, and say why the first wins", &compare_command},
    {"fit", "say whether a job fits in memory, and what would save some", &fit_command},
    {"sensitivity", "say which figures of the hardware the step time depends on", &sensitivity_command},
    {"calibrate", "fit constants of your installation to your own measurements", &calibrate_command},
    {"topo", "check, describe and draw a machine or cluster", &topo_command},
    {"exchange", "time collectives over message sizes, as nccl-tests prints them", &exchange_command},
    {"validate", "hold simulations against published measurements", &validate_command},
    {"list", "show the GPUs, machines, models... that scenarios can name", &list_command},
    {"schema", "show every key of a scenario with type, default and meaning", &schema_command},
    {"help", "explain a command", &help_command},
});

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* find_command(std::string_view name) {
  const auto found = std::ranges::find(kCommands, name, &Command::name);
  return found == kCommands.end() ? nullptr : &*found;
}

}  // namespace gpuscale::tool

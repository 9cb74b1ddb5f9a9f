#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/device_names.hpp"
#include "scenario/link_reader.hpp"
#include "scenario/map_reader.hpp"
#include "topology/machine_spec.hpp"

namespace gpuscale {

/// A machine while it is read: what it has from the machine it is like, and what its own keys change.
/// Problems are noted; nothing throws.
class MachineDraft {
 public:
  explicit MachineDraft(Reading& reading) : reading_(&reading) {}

  /// Starts from a machine that was read already.
  void start_from(MachineSpec machine);

  /// Takes devices and links of the first machine out: names, ranges, and {between: [..]}.
  void read_removals(const YamlValue& value);
  /// Adds devices; one that the first machine has is replaced and keeps its links.
  void read_devices(const YamlValue& value, const std::string& path);
  /// Adds links; those of the first machine between the same two devices and of the same kind go.
  void read_links(const YamlValue& value, const std::string& path, LinkTypes& types);

  /// Whether every device and link could be read.
  [[nodiscard]] bool complete() const { return complete_; }
  [[nodiscard]] const MachineSpec& machine() const { return machine_; }
  [[nodiscard]] MachineSpec take() { return std::move(machine_); }

  /// Notes the first device that no chain of links joins to the first GPU.
  void check_joined(const Place& links_place) const;

 private:
  using Names = std::vector<std::string>;
  struct Ends {
    Names from;
    Names to;
  };

  [[nodiscard]] std::optional<Names> expand(std::string_view text, const Place& place);
  [[nodiscard]] std::optional<Names> read_end(const YamlValue& value);
  [[nodiscard]] std::optional<Ends> read_between(const YamlValue& value);
  void read_device(const YamlEntry& entry, const std::string& path);
  void add_device(DeviceSpec device, const Place& place);
  /// Notes links of one kind between the same two devices: of several a route would take one.
  void refuse_repeated(const std::vector<ConnectionSpec>& links);
  void read_link(const YamlValue& value, const std::string& path, LinkTypes& types, std::vector<ConnectionSpec>& links);
  void remove_devices(const YamlValue& value);
  void remove_links(const YamlValue& value);
  void number_devices();

  Reading* reading_;
  MachineSpec machine_;
  std::map<std::string, std::size_t, std::less<>> index_;
  std::map<std::string, bool, std::less<>> own_;  ///< devices that this file describes itself
  bool complete_ = true;
};

}  // namespace gpuscale

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/reading.hpp"
#include "scenario/yaml_value.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

/// Whether zero is a value of a quantity: a cost may be zero, a rate may not.
enum class Zero { refused, allowed };

/// Values for the `$names` inside a block of a model. Null: no names are known here.
using Bindings = std::vector<std::pair<std::string_view, const YamlValue*>>;

/// Takes values out of a map by key. Notes what is wrong with them in the Reading and returns a usable
/// value all the same, so that one run finds every problem; throws nothing. A missing key is a problem
/// unless the function has a fallback or returns an optional.
class MapReader {
 public:
  /// `what` is the map in words ("link"), `path` the keys that lead to it ("cluster.machine"; empty at
  /// the top, "-" where the schema stops). A value that is no map is noted, and then reads as if empty.
  MapReader(const YamlValue& map, std::string what, std::string path, Reading& reading,
            const Bindings* bindings = nullptr);

  /// The value of a key; null if the key is not there (or has no value, which is noted).
  const YamlValue* find(std::string_view key);
  /// The same; a missing key is noted with what to write.
  const YamlValue* require(std::string_view key, std::string_view example);

  std::string text(std::string_view key, std::string_view example);
  std::string text_or(std::string_view key, std::string fallback);

  bool boolean_or(std::string_view key, bool fallback);

  std::int64_t whole(std::string_view key, std::int64_t least, std::int64_t most);
  std::int64_t whole_or(std::string_view key, std::int64_t fallback, std::int64_t least, std::int64_t most);

  /// A plain number without unit.
  double number(std::string_view key, double least, double most);
  double number_or(std::string_view key, double fallback, double least, double most);

  template <class Q>
  Q quantity(std::string_view key, Zero zero = Zero::refused) {
    return Q(needed(key, kKindOf<Q>, zero));
  }
  template <class Q>
  Q quantity_or(std::string_view key, Q fallback, Zero zero = Zero::refused) {
    return Q(optional(key, kKindOf<Q>, zero).value_or(fallback.count()));
  }
  template <class Q>
  std::optional<Q> optional_quantity(std::string_view key, Zero zero = Zero::refused) {
    const std::optional<double> value = optional(key, kKindOf<Q>, zero);
    return value ? std::optional<Q>(Q(*value)) : std::nullopt;
  }
  /// Quantities without a type of their own: counts, and things a second.
  double needed(std::string_view key, QuantityKind kind, Zero zero = Zero::refused);
  std::optional<double> optional(std::string_view key, QuantityKind kind, Zero zero = Zero::refused);

  /// The index of a word among `names`.
  std::size_t choice(std::string_view key, std::span<const std::string_view> names);
  std::size_t choice_or(std::string_view key, std::span<const std::string_view> names, std::size_t fallback);

  /// Notes every key that nobody asked for.
  void finish();

  [[nodiscard]] Place place() const { return map_->place(); }
  /// The place of a key's value, or of the map if the key is missing.
  [[nodiscard]] Place place(std::string_view key) const;
  [[nodiscard]] std::string path(std::string_view key) const;
  [[nodiscard]] Reading& reading() { return *reading_; }
  [[nodiscard]] const std::string& what() const { return what_; }
  [[nodiscard]] const Bindings* bindings() const { return bindings_; }
  [[nodiscard]] const YamlValue& map() const { return *map_; }

 private:
  void ask(std::string_view key);

  const YamlValue* map_;
  std::string what_;
  std::string path_;
  Reading* reading_;
  const Bindings* bindings_;
  std::vector<std::string> asked_;
};

// One value at a time, for lists and for values with two forms. Problems are noted at the value.
std::optional<std::string> read_text(const YamlValue& value, std::string_view what, Reading& reading);
std::optional<std::int64_t> read_whole(const YamlValue& value, std::int64_t least, std::int64_t most, Reading& reading);
std::optional<double> read_quantity(const YamlValue& value, QuantityKind kind, Zero zero, Reading& reading);
/// The index of a word among `names`; `what` says what is chosen: "precision".
std::optional<std::size_t> read_choice(const YamlValue& value, std::string_view what,
                                       std::span<const std::string_view> names, Reading& reading);

/// `value`, or what its `$name` stands for. An unknown name is noted and gives null.
const YamlValue* substituted(const YamlValue& value, const Bindings* bindings, Reading& reading);

}  // namespace gpuscale

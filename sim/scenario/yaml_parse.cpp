#include "scenario/yaml_parse.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "scenario/text_checks.hpp"
#include "scenario/text_lines.hpp"
#include "units/quantity_text.hpp"

namespace gpuscale {

namespace {

/// Ends a parse whose remaining events would only repeat the problem.
struct StopParsing {};

struct Anchored {
  YamlValue value;
  std::size_t values = 0;
  int depth = 0;
};

/// A list or map whose end has not come yet.
struct OpenValue {
  YamlValue value;
  YAML::anchor_t anchor = 0;
  std::size_t values_before = 0;
  int depth_below = 0;                            ///< of the deepest child
  std::optional<YamlEntry> pending;               ///< a key that waits for its value
  bool pending_dropped = false;                   ///< the value of this key is read, then forgotten
  std::map<std::string, int, std::less<>> lines;  ///< of the keys so far
};

/// Builds the tree from yaml-cpp's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(std::string_view text, const std::string& file, bool whole_file)
      : file_(std::make_shared<const std::string>(file)), lines_(text), whole_file_(whole_file) {
    root_.file = file_;
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (documents_++ > 0) {
      note(mark, "a second YAML document starts here; keep one document in a file");
      throw StopParsing{};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    check_limits(mark, 1, 0);
    add(make(YamlKind::null, mark), anchor, 1, 0);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) {
      note(mark, "this alias stands inside the value of its own anchor; write the value out");
      throw StopParsing{};
    }
    const Anchored& target = found->second;
    check_limits(mark, target.values, target.depth);
    YamlValue copy = target.value;
    add(std::move(copy), 0, target.values, target.depth);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_tag(mark, tag);
    check_limits(mark, 1, 0);
    YamlValue value = make(YamlKind::scalar, mark);
    value.text = text;
    value.quoted = tag == "!";
    if (value.quoted) last_quoted_ = mark;
    add(std::move(value), anchor, 1, 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    open(YamlKind::list, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    open(YamlKind::map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

  void note(const YAML::Mark& mark, std::string text) { note(make(YamlKind::null, mark).place(), std::move(text)); }

  void note(Place place, std::string text) {
    constexpr std::size_t kMostProblems = 100;
    problems_.push_back({std::move(place), std::move(text)});
    if (problems_.size() >= kMostProblems) throw StopParsing{};
  }

  [[nodiscard]] std::string_view text_from(const YAML::Mark& mark) const { return lines_.from(mark.line, mark.column); }
  /// Where the last text in quotation marks (or block) starts.
  [[nodiscard]] const std::optional<YAML::Mark>& last_quoted() const { return last_quoted_; }

  YamlDocument take() { return {std::move(root_), std::move(problems_)}; }

 private:
  YamlValue make(YamlKind kind, const YAML::Mark& mark) const {
    YamlValue value;
    value.kind = kind;
    value.file = file_;
    value.line = whole_file_ ? std::max(mark.line, 0) + 1 : 0;
    value.column = whole_file_ ? lines_.column(mark.line, mark.column) : 0;
    return value;
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    constexpr std::string_view kStandard = "tag:yaml.org,2002:";
    const std::string shown = tag.starts_with(kStandard) ? "!!" + tag.substr(kStandard.size()) : tag;
    note(mark, fmt::format("the tag {} has no meaning here; leave it out", in_quotes(shown)));
  }

  template <class Where>
  void check_limits(const Where& where, std::size_t values, int depth) {
    if (static_cast<int>(open_.size()) + depth > kDeepestNesting) {
      note(where, fmt::format("nested more than {} levels deep; no description needs that", kDeepestNesting));
      throw StopParsing{};
    }
    values_ += values;
    if (values_ > kMostValues) {
      note(where, fmt::format("more than {} values, aliases written out; no description needs that", kMostValues));
      throw StopParsing{};
    }
  }

  void open(YamlKind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    refuse_tag(mark, tag);
    OpenValue value;
    value.value = make(kind, mark);
    value.anchor = anchor;
    value.values_before = values_;
    open_.push_back(std::move(value));
    check_limits(mark, 1, 0);
  }

  void close() {
    OpenValue done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.value), done.anchor, values_ - done.values_before, done.depth_below + 1);
  }

  /// A finished value: remembered under its anchor and given to the list or map it stands in.
  void add(YamlValue value, YAML::anchor_t anchor, std::size_t values, int depth) {
    if (anchor != 0) {
      check_limits(value.place(), values, depth);  // the copy counts too
      anchored_[anchor] = {value, values, depth};
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return;
    }
    OpenValue& parent = open_.back();
    parent.depth_below = std::max(parent.depth_below, depth);
    if (parent.value.is_list()) {
      parent.value.items.push_back(std::move(value));
    } else if (!parent.pending) {
      take_key(parent, std::move(value));
    } else {
      parent.pending->value = std::move(value);
      if (!parent.pending_dropped) parent.value.entries.push_back(std::move(*parent.pending));
      parent.pending.reset();
    }
  }

  void take_key(OpenValue& map, YamlValue key) {
    map.pending = YamlEntry{key.text, key.line, key.column, key.file, {}};
    map.pending_dropped = false;
    if (!key.is_scalar()) {
      note(key.place(), fmt::format("a key must be a text, not {}", words(key.kind)));
      map.pending_dropped = true;
    } else if (key.text == "<<" && !key.quoted) {
      note(key.place(), "merge keys (<<) are not read; write the keys out, or use an alias for the whole value");
      map.pending_dropped = true;
    } else if (const auto [before, is_new] = map.lines.emplace(key.text, key.line); !is_new) {
      note(key.place(), before->second > 0
                            ? fmt::format("the key {} stands here a second time, first in line {}; keep one of them",
                                          in_quotes(key.text), before->second)
                            : fmt::format("the key {} stands here twice; keep one of them", in_quotes(key.text)));
      map.pending_dropped = true;
    }
  }

  std::shared_ptr<const std::string> file_;
  TextLines lines_;
  bool whole_file_;
  int documents_ = 0;
  std::size_t values_ = 0;
  YamlValue root_;
  std::vector<OpenValue> open_;
  std::unordered_map<YAML::anchor_t, Anchored> anchored_;
  std::vector<Problem> problems_;
  std::optional<YAML::Mark> last_quoted_;
};

/// yaml-cpp's messages that leave a reader guessing, and what to look for.
std::string syntax_text(const std::string& message) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kHints = {{
      {"end of map not found", "the map does not go on here; check the indentation, and that each key ends with ': '"},
      {"end of map flow not found", "a '{' has no matching '}'"},
      {"end of sequence not found",
       "the list does not go on here; check the indentation, and that each item starts with '- '"},
      {"end of sequence flow not found", "a '[' has no matching ']'"},
      {"illegal map value",
       "a ': ' stands where no value can start; check the indentation of this line, and put a text "
       "that contains ': ' in quotation marks"},
      {"the referenced anchor is not defined", "no anchor (&name) before this alias"},
      {"illegal EOF in scalar", "a quotation mark is opened and never closed"},
      {"illegal flow end", "a ']' or '}' closes nothing"},
  }};
  for (const auto& [theirs, ours] : kHints) {
    if (message == theirs) return fmt::format("not valid YAML: {}", ours);
  }
  return fmt::format("not valid YAML: {}", message);
}

YamlDocument parse(std::string_view text, const std::string& file, bool whole_file) {
  YamlDocument document;
  document.problems = check_text(text, file, whole_file);
  if (!document.problems.empty()) return document;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  TreeBuilder builder(text, file, whole_file);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    // yaml-cpp 0.7 takes all that follows an open quotation mark, without a word if a line break ends the file.
    const std::optional<YAML::Mark>& quoted = builder.last_quoted();
    if (quoted && is_unclosed_quote(builder.text_from(*quoted))) {
      builder.note(*quoted, syntax_text("illegal EOF in scalar"));
    }
  } catch (const StopParsing&) {
    // noted already
  } catch (const YAML::Exception& error) {
    try {
      builder.note(error.mark, syntax_text(error.msg));
    } catch (const StopParsing&) {
      // the last of many
    }
  }
  return builder.take();
}

}  // namespace

YamlDocument parse_yaml(std::string_view text, const std::string& file) { return parse(text, file, true); }

YamlDocument parse_yaml_value(std::string_view text, const std::string& origin) { return parse(text, origin, false); }

}  // namespace gpuscale

#include "schema_json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace gpuscale::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNamed = "name, path or map";

/// "a, b (also) or c" as its words; empty if some alternative is more than a word.
std::vector<std::string> words_of(std::string_view type) {
  std::string text(type);
  for (std::size_t at = 0; (at = text.find(" or ", at)) != std::string::npos;) text.replace(at, 4, ", ");
  std::vector<std::string> words;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.find(", ", start), text.size());
    std::string word = text.substr(start, end - start);
    if (const std::size_t also = word.find(" ("); also != std::string::npos && word.ends_with(')')) {
      words.push_back(word.substr(also + 2, word.size() - also - 3));
      word.resize(also);
    }
    if (word.empty() || word.find_first_of(" '[") != std::string::npos) return {};
    words.push_back(std::move(word));
    start = end + 2;
  }
  return words;
}

Json type_only(const char* name) { return {{"type", name}}; }

/// What a value of a type may look like. A quantity is a text that the program reads.
Json value_of(std::string_view type) {
  const bool or_map = type.ends_with(" or map");
  if (or_map) {
    Json first = value_of(type.substr(0, type.size() - std::string_view(" or map").size()));
    return {{"anyOf", {std::move(first), type_only("object")}}};
  }
  if (type.starts_with(kNamed)) return {{"anyOf", {type_only("string"), type_only("object")}}};
  if (type.starts_with("map")) return type_only("object");
  if (type == "list" || type.starts_with('[') || type.find("as [") != std::string_view::npos) return type_only("array");
  if (type == "whole number") return type_only("integer");
  if (type == "whole number or auto") return {{"anyOf", {type_only("integer"), {{"const", "auto"}}}}};
  if (type == "true or false") return type_only("boolean");
  if (type == "0" || type == "1") return {{"const", type == "1" ? 1 : 0}};
  if (type == "text" || type.starts_with("name")) return type_only("string");
  if (const std::vector<std::string> words = words_of(type); words.size() > 1 && words.front() != "size")
    return {{"enum", words}};
  if (type == "0 to 0.95") return {{"type", "number"}, {"minimum", 0}, {"maximum", 0.95}};
  Json text = {{"type", {"string", "number"}}};
  if (const std::size_t as = type.find(", as "); as != std::string_view::npos) text["examples"] = {type.substr(as + 5)};
  return text;
}

/// A key with the keys below it.
struct Node {
  const SchemaKey* key = nullptr;
  std::vector<std::pair<std::string, Node>> children;

  Node& child(std::string_view name) {
    for (auto& [known, node] : children) {
      if (known == name) return node;
    }
    return children.emplace_back(name, Node()).second;
  }
};

Node tree_of(std::span<const SchemaKey> keys) {
  Node root;
  for (const SchemaKey& key : keys) {
    Node* node = &root;
    std::string_view rest = key.path;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find('.'));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      const bool items = part.ends_with("[]");
      node = &node->child(items ? part.substr(0, part.size() - 2) : part);
      if (items) node = &node->child("[]");
    }
    node->key = &key;
  }
  return root;
}

Json schema_of(const Node& node);

/// The members of a map. NAME stands for any key.
void add_members(Json& schema, const Node& node) {
  Json properties = Json::object();
  Json required = Json::array();
  Json others = false;
  // Beside the name of a data file, the file may give what else names one (cluster.name and cluster.machine).
  const bool in_file = std::ranges::any_of(node.children, [](const auto& child) {
    return child.first == "name" && child.second.key != nullptr && child.second.key->type.starts_with(kNamed);
  });
  for (const auto& [name, child] : node.children) {
    if (name == "NAME") {
      others = schema_of(child);
      continue;
    }
    properties[name] = schema_of(child);
    const bool needed = child.key != nullptr && child.key->default_value == "required";
    if (needed && !(in_file && child.key->type.starts_with(kNamed))) required.push_back(name);
  }
  if (!properties.empty()) schema["properties"] = std::move(properties);
  if (!required.empty()) schema["required"] = std::move(required);
  schema["additionalProperties"] = std::move(others);
}

void add_children(Json& schema, const Node& node) {
  if (node.children.empty()) return;
  if (node.children.front().first == "[]") {
    schema["items"] = schema_of(node.children.front().second);
    return;
  }
  if (!schema.contains("anyOf")) return add_members(schema, node);
  for (Json& way : schema["anyOf"]) {
    if (way.value("type", "") == "object") add_members(way, node);
  }
}

Json schema_of(const Node& node) {
  Json schema = node.key == nullptr ? type_only("object") : value_of(node.key->type);
  add_children(schema, node);
  if (node.key == nullptr) return schema;
  schema["description"] = std::string(node.key->meaning) + " (" + std::string(node.key->type) + "; " +
                          (node.key->default_value.starts_with("required") ? "" : "default: ") +
                          std::string(node.key->default_value) + ")";
  return schema;
}

}  // namespace

std::string json_schema(std::span<const SchemaKey> keys) {
  Json document = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "gpuscale scenario"}};
  document.update(schema_of(tree_of(keys)));
  return document.dump(2) + '\n';
}

}  // namespace gpuscale::tool

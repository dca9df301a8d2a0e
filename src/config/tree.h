// Rules as a tree of JSON, as they were written: what the configuration keeps and changes. JSON is
// read by the reader of rules files (rules/text/json_text.h), with its bounds and its eye for doubled keys.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rules/parse_options.h"
#include "rules/text/diagnostic.h"
#include "weir/error.h"

namespace weir {

using Json = nlohmann::json;

// A body of the API. The error tells line and column.
Result<Json> ReadJsonTree(std::string_view text);
// A rules file, in YAML or JSON.
Result<Json> ReadRulesTree(std::string text, std::string file_name);
// What is below `namespaces` in a file, or in all *.yaml of a directory.
Result<Json> LoadNamespaces(const std::string& path, const ParseOptions& options = {});

// On one line, or one member a line.
std::string PrintJson(const Json& tree);
std::string PrintJsonLines(const Json& tree);
// The same tree in YAML.
std::string PrintYaml(const Json& tree);

// Which part of `tree` stands on a line of PrintJsonLines(tree), as in a Normalisation's path.
std::string PathOfLine(const Json& tree, uint32_t line);

// Makes `tree` what normalisation made of it. False if that could not be done.
bool ApplyNormalisations(const std::vector<Normalisation>& changes, Json& tree);

// What has to change to make `to` of `from`: a line each, "+ path: value", "- path: value" or
// "~ path: old -> new".
std::vector<std::string> Differences(const Json& from, const Json& to);

}  // namespace weir

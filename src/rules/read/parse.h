// Reads rules: from files or text to a rulebook, or to every mistake in them.
//
//   ParseResult result = LoadRulesPath("rules.yaml");
//   if (!result.ok()) std::cerr << ToString(result.errors);
//
// Nothing of a bad file takes effect, and one bad file spoils all that are read together.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rules/parse_options.h"
#include "rules/rulebook.h"
#include "rules/text/diagnostic.h"

namespace weir {

struct ParseResult {
  std::shared_ptr<const Rulebook> rules;  // null if there are errors
  std::vector<Diagnostic> errors;         // in order of file and place
  std::vector<Normalisation> changes;     // what was accepted, but not as it was written
  bool ok() const { return rules != nullptr; }
};

ParseResult ParseRulesText(std::string_view yaml, std::string file_name,
                           const ParseOptions& options = {});
// Several that are read together.
struct RulesText {
  std::string file_name;
  std::string text;
};
ParseResult ParseRulesTexts(std::vector<RulesText> texts, const ParseOptions& options = {});
// One text, without a rulebook: its namespaces may be put together with those of others.
struct NamespacesRead {
  std::vector<Namespace> namespaces;
  std::vector<Diagnostic> errors;
  std::vector<Normalisation> changes;
};
NamespacesRead ReadNamespaces(std::string text, std::string file_name,
                              const ParseOptions& options = {});
// A file of envoyproxy/ratelimit.
ParseResult ParseRatelimitText(std::string_view yaml, std::string file_name,
                               const ParseOptions& options = {});

// A file, or all *.yaml of a directory in order of name.
ParseResult LoadRulesPath(const std::string& path, const ParseOptions& options = {});
// A directory of envoyproxy/ratelimit's files (or one of them).
ParseResult LoadRatelimitConfig(const std::string& dir, const ParseOptions& options = {});
// Both together; either may be empty.
ParseResult LoadAllRules(const std::string& rules_path, const std::string& ratelimit_dir,
                         const ParseOptions& options = {});

}  // namespace weir

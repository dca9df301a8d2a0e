#include "rules/read/parse.h"
#include "weir/limiter.h"

namespace weir {
namespace {

std::shared_ptr<const Rulebook> Finish(const ParseResult& result, std::string* errors) {
  if (!result.ok() && errors != nullptr) *errors = ToString(result.errors);
  return result.rules;
}

}  // namespace

std::shared_ptr<const Rulebook> LoadRules(const std::string& path, std::string* errors) {
  return Finish(LoadRulesPath(path), errors);
}

std::shared_ptr<const Rulebook> ParseRules(std::string_view yaml, std::string* errors) {
  return Finish(ParseRulesText(yaml, "rules"), errors);
}

}  // namespace weir

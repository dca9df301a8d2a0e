#include "server/check_command.h"

#include "rules/parse.h"
#include "rules/print.h"

namespace weir {

int RunCheck(const CheckOptions& options, std::ostream& out, std::ostream& errors) {
  const ParseResult result = LoadRulesPath(options.path, {.cluster = options.cluster});
  (result.ok() ? out : errors) << CheckReport(result, options.colours);
  if (result.ok()) return 0;
  if (!options.cluster && LoadRulesPath(options.path, {.cluster = true}).ok()) {
    errors << "For a node of a cluster they are right: weir check --cluster " << options.path
           << "\n";
  }
  return 1;
}

}  // namespace weir

#include "server/check_command.h"

#include "rules/parse.h"
#include "rules/print.h"

namespace weir {

int RunCheck(const CheckOptions& options, std::ostream& out, std::ostream& errors) {
  const ParseResult result = LoadRulesPath(options.path, {.cluster = options.cluster});
  (result.ok() ? out : errors) << CheckReport(result, options.colours);
  return result.ok() ? 0 : 1;
}

}  // namespace weir

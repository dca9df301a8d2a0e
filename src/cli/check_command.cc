#include "cli/check_command.h"

#include "rules/print/print.h"
#include "rules/read/parse.h"

namespace weir {

int RunCheck(const CheckOptions& options, Terminal& out, Terminal& errors) {
  const ParseResult result = LoadRulesPath(options.path, {.cluster = options.cluster});
  Terminal& told = result.ok() ? out : errors;
  told.PaintedLines(CheckReport(result, told.colours()));
  if (result.ok()) return 0;
  if (!options.cluster && LoadRulesPath(options.path, {.cluster = true}).ok()) {
    errors.Print("For a node of a cluster they are right: weir check --cluster {}\n", options.path);
  }
  return 1;
}

}  // namespace weir

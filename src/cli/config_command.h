// `weir config export|import|diff`: the whole configuration, of a running server or in a database.
#pragma once

#include <string>

#include "cli/client_options.h"

namespace weir {

struct ConfigArguments {
  std::string database;  // directly there; empty: through the server
  std::string file;      // of import and diff: a rules file, or a directory of them
  std::string format = "yaml";
  std::string who;  // for the history of a database that is written directly
};

// Exit codes: 0 done (diff: nothing differs), 1 diff: something does, 2 an error.
int RunConfigExport(const ClientOptions& options, const ConfigArguments& arguments, Terminal& out,
                    Terminal& errors);
int RunConfigImport(const ClientOptions& options, const ConfigArguments& arguments, Terminal& out,
                    Terminal& errors);
int RunConfigDiff(const ClientOptions& options, const ConfigArguments& arguments, Terminal& out,
                  Terminal& errors);

}  // namespace weir

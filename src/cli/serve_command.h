// `weir serve`: runs a server until it is told to stop.
#pragma once

#include "server/settings.h"

namespace weir {

// SIGTERM and SIGINT drain and end it, SIGHUP reads rules and certificates again. Returns the exit
// code: 0 after a signal, 1 if it could not start.
int RunServe(const Settings& settings);

}  // namespace weir

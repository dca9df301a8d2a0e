#include "weir/client/kill_switch.h"

namespace weir::client {

KillSwitch& KillSwitch::OfProcess() {
  static KillSwitch of_process;
  return of_process;
}

}  // namespace weir::client

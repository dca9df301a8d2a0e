// Which server is asked.
//
// A question goes to the first address that answers; each gets its share of the timeout, so that the
// whole never takes longer. A server's error about the question itself is thrown, any other makes the
// next address be asked. When none is left, Unavailable is thrown.
#pragma once

#include <memory>
#include <string>

#include "clients/cpp/src/commands.h"
#include "clients/cpp/src/servers.h"
#include "clients/cpp/src/tally.h"
#include "weir/client/options.h"

namespace weir::client {

struct Heard {
  Value value;
  std::shared_ptr<Session> session;
  std::string address;
};

class Asker {
 public:
  // The clock, the tally and the wire outlive it.
  Asker(const Options& options, Clock& clock, Tally& tally, Wire& wire);

  // `patience`: how much longer than the timeout a server may take once it is known to be there.
  Heard Ask(const Command& command, std::string_view preferred = {}, Duration patience = {});
  Value AskSession(const std::shared_ptr<Session>& session, const Command& command);
  bool degraded() const { return servers_.degraded(); }

 private:
  Answer Call(size_t server, const Command& command, Duration share, Duration patience);

  const Duration timeout_;
  Clock& clock_;
  Tally& tally_;
  Wire& wire_;
  Servers servers_;
};

}  // namespace weir::client

// Who may do what, whatever he speaks: every route of HTTP, command of RESP and method of gRPC is one
// of these operations, and one policy (server/access.h) decides on them all.
#pragma once

#include <cstdint>
#include <string_view>

namespace weir {

enum class Operation : uint8_t {
  kHealth,       // is it there, and ready
  kDescribe,     // what could be asked: OpenAPI, reflection
  kDecide,       // requests, settling, holds
  kProxyDecide,  // the same for a proxy, which passes on what its client sent
  kMetrics,
  kStatistics,
  kCluster,
  kReadConfig,
  kWriteConfig,
};

// Whoever asks, as far as can be told.
struct Asker {
  std::string_view token = {};  // empty: none was given
  // On this machine for certain: from loopback by a name of loopback, passed on by nobody, and of no
  // web page of others that is open in a browser here.
  bool local = false;
};

class AccessPolicy {
 public:
  virtual ~AccessPolicy() = default;
  // `ns` empty: on all namespaces. From any thread.
  virtual bool May(Operation what, std::string_view ns, const Asker& who) const = 0;
  // On some namespace at least: whoever may not is not told anything.
  virtual bool MaySomewhere(Operation what, const Asker& who) const = 0;
};

}  // namespace weir

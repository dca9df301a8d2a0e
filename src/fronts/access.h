// Who may do what, whatever he speaks: every route of HTTP, command of RESP and method of gRPC is one
// of these operations, and one policy (server/access.h) decides on them all.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "limiter/beyond_reach.h"  // what is told
#include "weir/error.h"
#include "weir/reach.h"

namespace weir {

enum class Operation : uint8_t {
  kHealth,       // is it there, and ready
  kDescribe,     // what could be asked: OpenAPI, reflection
  kDecide,       // requests, settling, holds
  kProxyDecide,  // the same for a proxy, which passes on what its client sent
  kCarried,      // decisions on limits that requests bring with them, which are of no namespace
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
  // Where whoever shows this token may ask for decisions; null: nowhere. It stays where it is, also when
  // other tokens are read.
  virtual const Reach* ReachOf(std::string_view token) const = 0;
  // Of somebody who may not: kForbidden if his token is one, else kUnauthenticated.
  virtual Code WhyNot(const Asker& who) const = 0;
  // Grows when other tokens are known than before: whoever was let in is asked again. Read it before the
  // rest.
  virtual const std::atomic<uint64_t>& version() const = 0;
};

// What somebody is told who is known, and asks where he may not.
inline constexpr std::string_view kNotThisToken =
    "this token is not for that: --token-file says what it may, and where";
inline constexpr std::string_view kNotAllNamespaces =
    "this token is not for all namespaces: name one, or show one that is (*)";

}  // namespace weir

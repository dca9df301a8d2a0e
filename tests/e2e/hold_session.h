// A client's session with the real server, over RESP (the connection is the session) or over HTTP
// (it has a time to live), in the same words.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace weir::e2e {

struct HoldAnswer {
  enum { kYes, kNo, kError, kLost } kind = kLost;  // kLost: no answer, or half of one
  uint64_t copies = 0;
  std::string name;  // of a hold or transfer
  std::string subject;
  uint64_t greatest = 0;  // of the numbers of copies in it
  std::string text;       // all of it
};

class HoldSession {
 public:
  using Millis = std::chrono::milliseconds;

  // Null if nobody listens.
  static std::unique_ptr<HoldSession> OverResp(int port);
  static std::unique_ptr<HoldSession> OverHttp(int port, Millis ttl);
  virtual ~HoldSession() = default;

  virtual HoldAnswer Reserve(const std::string& subject, uint64_t copies, uint64_t least,
                             Millis wait) = 0;
  virtual HoldAnswer Release(const std::string& hold, uint64_t copies) = 0;
  virtual HoldAnswer Transfer(const std::string& hold, uint64_t copies, Millis ttl) = 0;
  virtual HoldAnswer Seize(const std::string& transfer) = 0;
  virtual HoldAnswer Renew() = 0;
};

}  // namespace weir::e2e

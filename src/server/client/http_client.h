// One HTTP request after the other over one connection, each within a deadline. It waits: for the
// command line, and for a thread that has nothing else to do, such as the one that follows another
// server's configuration.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "weir/error.h"
#include "weir/instant.h"

namespace weir {

struct HttpAnswer {
  int status = 0;
  std::string body;
};

class HttpClient {
 public:
  HttpClient(std::string server, std::string token, Duration deadline)
      : server_(std::move(server)), token_(std::move(token)), deadline_(deadline) {}

  // kUnavailable if no server answers in time.
  Result<HttpAnswer> Get(std::string_view path) { return Call("GET", path, ""); }
  Result<HttpAnswer> Post(std::string_view path, std::string_view json) {
    return Call("POST", path, json);
  }
  Result<HttpAnswer> Put(std::string_view path, std::string_view json) {
    return Call("PUT", path, json);
  }
  // From any thread: whatever it waits for, it soon gives up, and for ever.
  void Interrupt() { interrupted_.store(true); }

 private:
  Result<HttpAnswer> Call(std::string_view method, std::string_view path, std::string_view json);
  bool Connect();
  bool Send(std::string_view bytes);
  bool Receive(HttpAnswer& answer);
  bool Wait(short events);
  Error Unavailable() const;

  const std::string server_, token_;
  const Duration deadline_;
  std::atomic<bool> interrupted_{false};
  FileDescriptor fd_;
};

// HOST:PORT out of http://HOST:PORT, or as it is. Not looked up: the host may be away.
Result<std::string> HttpAddress(const std::string& url);

// As a part of a query: everything but letters, digits and -._~ as %XX.
std::string QueryPart(std::string_view text);

}  // namespace weir

// One HTTP request after the other over one connection, each within a deadline; a long answer may take longer,
// as long as it comes at 16 KiB a second. It waits: for the
// command line, and for a thread that has nothing else to do, such as the one that follows another
// server's configuration.
//
// A connection that is kept may be closed by the server just when it is used again. What may be sent
// twice (GET, PUT) then is, over a new connection. A POST is not: it is sent again only if not a byte
// of it was, and otherwise the caller is told that it is not known whether it was carried out.
#pragma once

#include <string>
#include <string_view>

#include "net/client_stream.h"
#include "weir/error.h"
#include "weir/instant.h"

namespace weir {

struct HttpAnswer {
  int status = 0;
  std::string body;
};

struct HttpClientOptions {
  ServerUrl url;
  std::string token;
  Duration deadline{};
  ClientTls tls;
  // The flags that name the server and its TLS, for what is told.
  std::string address_flag = "--server";
  std::string tls_flags = "--tls-";
};

class HttpClient {
 public:
  explicit HttpClient(HttpClientOptions options)
      : options_(std::move(options)), stream_(options_.url, options_.tls, options_.tls_flags) {}

  // kUnavailable if no server answers in time.
  Result<HttpAnswer> Get(std::string_view path) { return Call("GET", path, ""); }
  Result<HttpAnswer> Post(std::string_view path, std::string_view json) {
    return Call("POST", path, json);
  }
  Result<HttpAnswer> Put(std::string_view path, std::string_view json) {
    return Call("PUT", path, json);
  }
  // From any thread: whatever it waits for, it soon gives up, and for ever.
  void Interrupt() { stream_.Interrupt(); }

 private:
  Result<HttpAnswer> Call(std::string_view method, std::string_view path, std::string_view json);
  std::string RequestText(std::string_view method, std::string_view path,
                          std::string_view json) const;
  bool Exchange(std::string_view request, HttpAnswer& answer);
  bool Receive(ClientStream::Time begun_by, HttpAnswer& answer);
  ClientStream::Time Until() const { return std::chrono::steady_clock::now() + options_.deadline; }
  Error Unavailable(std::string_view more) const;

  const HttpClientOptions options_;
  ClientStream stream_;
  std::string trouble_;
};

// As a part of a query: everything but letters, digits and -._~ as %XX.
std::string QueryPart(std::string_view text);

}  // namespace weir

// The right to answer one request: at once, or later on the connection's thread. A connection takes
// up its next request when the last is answered, so answers keep their order.
//
// A responder may outlive its connection; it then does nothing. One that is dropped without having
// answered says so to the client (503): a forgotten answer blocks nobody.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/turn.h"

namespace weir::http {

class Connection;

struct Response {
  int status = 200;
  std::string_view content_type = {};  // empty: none is told
  std::string_view body = {};
  std::string_view headers = {};  // more of them: "Name: value\r\n" each
};

class Responder {
 public:
  explicit Responder(std::weak_ptr<Connection*> connection) : connection_(std::move(connection)) {}
  Responder(Responder&&) = default;
  Responder& operator=(Responder&&) = delete;
  ~Responder();

  // Once.
  void Send(const Response& response);
  // Before Send: `undo` is called if the peer has closed its sending side and the answer does not
  // reach it, or is known to not be there any more.
  void IfLost(std::function<void(const Turn&)> undo);
  // Gives the right up, from any thread: the connection is gone.
  void Abandon() { connection_.reset(); }

 private:
  std::weak_ptr<Connection*> connection_;
};

}  // namespace weir::http

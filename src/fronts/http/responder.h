// The right to answer one request: at once, or later on the connection's thread. Answers keep the order
// of the requests. A connection takes up its next request when the last is answered, unless that one lets
// others pass (Await): then their answers wait behind it.
//
// A responder may outlive its connection; it then does nothing. One that is dropped without having
// answered says so to the client (503): a forgotten answer blocks nobody.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/turn.h"
#include "fronts/waiter.h"

namespace weir::http {

class Connection;

struct Response {
  int status = 200;
  std::string_view content_type = {};  // empty: none is told
  std::string_view body = {};
  std::string_view headers = {};  // more of them: "Name: value\r\n" each
  bool decided = false;           // a decision, whatever the status of a refusal
};

class Responder {
 public:
  Responder(std::weak_ptr<Connection*> connection, uint64_t number)
      : connection_(std::move(connection)), number_(number) {}
  Responder(Responder&&) = default;
  Responder& operator=(Responder&&) = delete;
  ~Responder();

  // Once.
  void Send(const Response& response);
  // Before Send: `undo` is called if the peer has closed its sending side and the answer does not
  // reach it, or is known to not be there any more.
  void IfLost(std::function<void(const Turn&)> undo);
  // Within the handler: the answer comes later, and requests behind this one are taken meanwhile. The
  // waiter is told if the peer goes before that.
  void Await(Waiter& waiter);
  // Gives the right up, from any thread: the connection is gone.
  void Abandon() { connection_.reset(); }

 private:
  std::weak_ptr<Connection*> connection_;
  uint64_t number_;  // of the request
};

}  // namespace weir::http

// The right to answer a request of HTTP, carried to another thread. Whatever happens to it, the
// responder itself is used and destroyed on its connection's thread only. One that is dropped without
// having answered says so to the client.
#pragma once

#include <memory>
#include <string>

#include "fronts/http/http_request.h"
#include "fronts/http/responder.h"
#include "fronts/way_back.h"
#include "weir/error.h"

namespace weir {

struct Answer {
  int status = 200;
  std::string body = {};
  std::string headers = {};
  std::string_view content_type = "application/json";  // a constant; of an empty body none is told
};

Answer ErrorAnswer(const Error& error);
// To somebody who may not: that he has to show a token or, if he has, that it is not for `wanted`.
Answer AccessAnswer(const AccessPolicy* policy, const Asker& who,
                    std::string_view wanted = kNotThisNamespace);

class LateAnswer {
 public:
  LateAnswer(const http::HttpRequest& request, http::Responder responder)
      : way_back_(request.way_back->shared_from_this()),
        responder_(std::make_shared<http::Responder>(std::move(responder))) {}
  LateAnswer(const LateAnswer&) = delete;
  LateAnswer& operator=(const LateAnswer&) = delete;
  ~LateAnswer() {
    if (responder_ != nullptr) Post([](http::Responder&) {});
  }

  // Once, from any thread.
  void Send(Answer answer) {
    Post([answer = std::move(answer)](http::Responder& responder) { SendNow(answer, responder); });
  }
  // On the connection's thread.
  static void SendNow(const Answer& answer, http::Responder& responder) {
    responder.Send({.status = answer.status,
                    .content_type = answer.body.empty() ? "" : answer.content_type,
                    .body = answer.body,
                    .headers = answer.headers});
  }

 private:
  template <typename Use>
  void Post(Use use) {
    const auto responder = std::move(responder_);
    responder_ = nullptr;
    way_back_->Post([responder, use = std::move(use)](const Turn&) { use(*responder); },
                    [responder](const Turn&) { responder->Abandon(); });
  }

  const std::shared_ptr<WayBack> way_back_;
  std::shared_ptr<http::Responder> responder_;
};

}  // namespace weir

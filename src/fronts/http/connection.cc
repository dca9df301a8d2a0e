#include "fronts/http/connection.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "fronts/http/json_out.h"
#include "fronts/http/status_text.h"
#include "fronts/numbers.h"

namespace weir::http {
namespace {

// What a request needs while it is handled and no connection has to keep: one for each thread.
struct HeadScratch {
  RequestHead head;
  Query query;
};

HeadScratch& ThreadHeadScratch() {
  thread_local HeadScratch scratch;
  return scratch;
}

}  // namespace

// ---- Late answers ----

class Connection::Exchange final : public AnswerLine::Gap {
 public:
  Exchange(Connection& connection, Manner manner, Waiter* waiter)
      : connection_(connection), manner_(std::move(manner)), waiter_(waiter) {}

  uint64_t number() const { return manner_.number; }
  bool blocks() const { return waiter_ == nullptr; }
  void Answer(const Response& response) {
    connection_.WriteAnswer(response, manner_, out());
    connection_.line_.Fill(*this);
  }
  void Done() override { delete this; }
  void Abandoned(const Turn& now) override {
    if (waiter_ != nullptr) waiter_->Abandoned(now);
    delete this;
  }

 private:
  Connection& connection_;
  Manner manner_;
  Waiter* const waiter_;  // null: nobody passes it, nor is told if the peer goes
};

Responder::~Responder() {
  if (connection_.expired()) return;
  std::string body;
  AppendError(body, "unavailable", "the request was not answered", "");
  Send({.status = 503, .content_type = kJson, .body = body});
}

void Responder::Send(const Response& response) {
  const std::shared_ptr<Connection*> connection = connection_.lock();
  connection_.reset();
  if (connection != nullptr) (*connection)->Answer(number_, response);
}

void Responder::Await(Waiter& waiter) {
  const std::shared_ptr<Connection*> connection = connection_.lock();
  if (connection != nullptr) (*connection)->Await(number_, waiter);
}

void Responder::IfLost(std::function<void(const Turn&)> undo) {
  const std::shared_ptr<Connection*> connection = connection_.lock();
  if (connection != nullptr) (*connection)->IfLost(std::move(undo));
}

void Connection::IfLost(std::function<void(const Turn&)> undo) {
  if (undo_.size() == kMostUndone) undo_.erase(undo_.begin());
  undo_.push_back(std::move(undo));
}

void Connection::Await(uint64_t number, Waiter& waiter) {
  assert(handling_ && number == manner_.number);
  (void)number;
  awaited_by_ = &waiter;
}

void Connection::Answer(uint64_t number, const Response& response) {
  if (handling_ && number == manner_.number) return AnswerNow(response);
  const auto is_it = [&](const Exchange* exchange) { return exchange->number() == number; };
  const auto found = std::find_if(exchanges_.begin(), exchanges_.end(), is_it);
  if (found == exchanges_.end()) return;
  Exchange& exchange = **found;
  exchanges_.erase(found);
  if (exchange.blocks()) blocked_ = false;
  exchange.Answer(response);
}

void Connection::AnswerNow(const Response& response) {
  WriteAnswer(response, manner_, line_.out());
  handling_ = false;
}

void Connection::Closed(const Turn& now) {
  way_back_->Close();
  exchanges_.clear();
  line_.End(now);
  for (const auto& undo : std::exchange(undo_, {})) undo(now);
}

size_t Connection::Receive(std::string_view in, const Turn& now) {
  size_t used = 0;
  while (!done_ && !answering() && !link_.full()) {
    const size_t taken = TakeRequest(in.substr(used), now);
    if (taken == 0) break;
    used += taken;
  }
  if (done_) used = in.size();
  partial_ = used < in.size();
  return used;
}

size_t Connection::TakeRequest(std::string_view in, const Turn& now) {
  if (in.empty()) return 0;
  if (in.substr(0, 2) == "\r\n") return 2;  // some clients end a body with an empty line
  if (in == "\r" || in.size() < wanted_) return 0;
  RequestHead& head = ThreadHeadScratch().head;
  std::string_view body;
  const size_t size = Measure(in, head, body);
  if (size == 0) return 0;
  head_end_.Reset();
  wanted_ = 0;
  said_continue_ = false;
  Handle(head, body, now);
  chunks_.Reset();
  return size;
}

size_t Connection::Measure(std::string_view in, RequestHead& head, std::string_view& body) {
  Fault fault;
  const std::optional<size_t> head_size = head_end_.Find(in, fault);
  if (fault) return Refuse(fault);
  if (!head_size) return 0;
  fault = ParseHead(in.substr(0, *head_size), head);
  if (fault) return Refuse(fault);
  // A token vouches for a large body before it comes.
  const bool large = head.chunked || head.content_length > link_.most_unread() - *head_size;
  if (large && !link_.trusted() && trusts_ && trusts_(head, link_)) link_.Trust();
  if (head.chunked) {
    const size_t size = MeasureChunks(in, *head_size, body);
    return size == 0 && !done_ ? Incomplete(head) : size;
  }
  if (head.content_length > link_.most_unread() - *head_size) {
    return Refuse({413, "the body is too large"});
  }
  const size_t length = static_cast<size_t>(head.content_length);
  wanted_ = *head_size + length;
  if (in.size() < wanted_) return Incomplete(head);
  body = in.substr(*head_size, length);
  return wanted_;
}

size_t Connection::MeasureChunks(std::string_view in, size_t head_size, std::string_view& body) {
  wanted_ = head_size;
  Fault fault;
  // The body is kept twice, as it came and put together.
  const size_t most = link_.trusted() ? kMostUnread : kMostUnreadAtFirst / 2;
  const std::optional<size_t> size =
      chunks_.Read(in.substr(head_size), most - std::min(most, head_size), fault);
  if (fault) return Refuse(fault);
  if (!size) return 0;
  body = chunks_.body();
  return head_size + *size;
}

size_t Connection::Incomplete(const RequestHead& head) {
  if (head.expects_continue && !said_continue_) {
    link_.out().append("HTTP/1.1 100 Continue\r\n\r\n");
    said_continue_ = true;
  }
  return 0;
}

size_t Connection::Refuse(const Fault& fault) {
  manner_ = {.keep_alive = false};
  std::string body;
  AppendError(body, "bad_request", fault.message, "");
  AnswerNow({.status = fault.status, .content_type = kJson, .body = body});
  return 0;
}

void Connection::Handle(const RequestHead& head, std::string_view body, const Turn& now) {
  manner_.number += 1;
  manner_.keep_alive = head.keep_alive;
  manner_.is_1_0 = head.is_1_0;
  manner_.without_body = head.method == "HEAD";
  if (!manner_.cors.empty()) manner_.cors.clear();
  handling_ = true;
  awaited_by_ = nullptr;
  const RouteTable::Found found = routes_.Find(head.method, head.path);
  if (found.what == Operation::kDecide && gate_.Lists(head.origin)) {
    manner_.cors = Gate::CorsHeaders(head.origin);
  }
  if (found.handler == nullptr) return RefuseRoute(found, head);
  const Asker who = gate_.WhoAsks(found.what, head, link_.from_loopback());
  const Reach* reach = nullptr;
  if (const auto refusal = gate_.Refuse(found.what, head, who, reach)) return RefuseAsker(*refusal);
  Query& query = ThreadHeadScratch().query;
  if (!query.Parse(head.query)) {
    std::string text;
    AppendError(text, "bad_request", "the query is not percent-encoded as it should be", "");
    return AnswerNow({.status = 400, .content_type = kJson, .body = text});
  }
  const HttpRequest request{.method = head.method,
                            .path = head.path,
                            .rest = found.rest,
                            .parameters = query.parameters(),
                            .headers = head.headers(),
                            .body = body,
                            .peer = link_.peer(),
                            .who = who,
                            .policy = gate_.policy(),
                            .reach = reach,
                            .now = now,
                            .link = &link_,
                            .way_back = way_back_.get()};
  (*found.handler)(request, Responder(self_, manner_.number));
  if (!std::exchange(handling_, false)) return;
  const uint64_t number = manner_.number;
  if (!manner_.keep_alive) done_ = true;  // it was the last
  auto* const exchange =
      new Exchange(*this, std::exchange(manner_, {.number = number}), awaited_by_);
  exchanges_.push_back(exchange);
  blocked_ = exchange->blocks();
  line_.Leave(*exchange);
}

void Connection::RefuseAsker(const Gate::Refusal& refusal) {
  std::string body;
  AppendError(body, refusal.code, refusal.message, "");
  AnswerNow({.status = refusal.status,
             .content_type = kJson,
             .body = body,
             .headers = refusal.status == 401 ? "WWW-Authenticate: Bearer\r\n" : ""});
}

void Connection::RefuseRoute(const RouteTable::Found& found, const RequestHead& head) {
  if (!manner_.cors.empty() && head.method == "OPTIONS") {  // the browser asks whether the page may
    manner_.cors.clear();
    return AnswerNow({.status = 204, .headers = Gate::PreflightHeaders(head.origin)});
  }
  std::string body;
  if (found.allow.empty()) {
    AppendError(body, "not_found", "there is nothing at this path", "");
    return AnswerNow({.status = 404, .content_type = kJson, .body = body});
  }
  AppendError(body, "method_not_allowed", "this path does not take this method", "");
  const std::string allow = "Allow: " + found.allow + "\r\n";
  AnswerNow({.status = 405, .content_type = kJson, .body = body, .headers = allow});
}

void Connection::WriteAnswer(const Response& response, Manner& manner, std::string& out) {
  if (draining_ && exchanges_.empty()) manner.keep_alive = false;
  out.append("HTTP/1.1 ").append(StatusText(response.status)).append("\r\n");
  if (!response.content_type.empty()) {
    out.append("Content-Type: ").append(response.content_type).append("\r\n");
  }
  const bool never_a_body = response.status == 204 || response.status == 304;
  if (!never_a_body) {
    out.append("Content-Length: ");
    AppendNumber(out, response.body.size());
    out.append("\r\n");
  }
  out.append(response.headers);
  out.append(manner.cors);
  if (!manner.keep_alive) {
    out.append("Connection: close\r\n");
  } else if (manner.is_1_0) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
  if (!manner.without_body && !never_a_body) out.append(response.body);
  if (response.status < 400 || response.status == 429 || response.decided) link_.Trust();
  if (!manner.keep_alive) done_ = true;
}

}  // namespace weir::http

// One connection of HTTP/1.1: requests one after the other.
//
//   bytes -> head -> body -> route -> gate -> handler ... Responder -> status, headers, body
//
// A request that is not answered at once becomes an exchange: its answer has a gap in the line of answers
// (answer_line.h). Where it lets others pass, the next requests are taken meanwhile; else nothing is, and
// the bytes come again when it has been answered.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fronts/answer_line.h"
#include "fronts/http/chunks.h"
#include "fronts/http/gate.h"
#include "fronts/http/request_head.h"
#include "fronts/http/responder.h"
#include "fronts/http/route_table.h"
#include "fronts/protocol.h"
#include "fronts/way_back.h"

namespace weir::http {

class Connection : public Protocol {
 public:
  // Whether what a request says of its sender vouches for a large body.
  using Trusts = std::function<bool(const RequestHead&, const Link&)>;

  // All outlive the connection.
  Connection(Link& link, const RouteTable& routes, const Gate& gate, const Trusts& trusts)
      : link_(link),
        routes_(routes),
        gate_(gate),
        trusts_(trusts),
        line_(link),
        self_(std::make_shared<Connection*>(this)),
        way_back_(WayBack::To(link)) {}
  ~Connection() override {
    way_back_->Close();
    if (!line_.empty()) line_.End(Turn(link_.clock()));  // it was not told that it ends
  }

  size_t Receive(std::string_view in, const Turn& now) override;
  void Drain(const Turn&) override { draining_ = true; }
  void Closed(const Turn& now) override;
  bool asks_for_delivery() const override { return !undo_.empty(); }
  void Delivered() override { undo_.clear(); }
  size_t bytes() const override { return chunks_.bytes() + line_.bytes(); }
  bool answering() const override { return blocked_ || line_.full(); }
  bool owes() const override { return !line_.empty(); }
  bool idle() const override { return line_.empty() && !partial_; }
  bool done() const override { return line_.empty() && (done_ || (draining_ && idle())); }

  // For responders, of the request of that number.
  void Answer(uint64_t number, const Response& response);
  void Await(uint64_t number, Waiter& waiter);
  // To be called if the answer that follows does not reach the peer: it may have gone though nothing
  // was heard of that yet.
  void IfLost(std::function<void(const Turn&)> undo);

 private:
  // How a request is to be answered.
  struct Manner {
    uint64_t number = 0;
    bool without_body = false;  // HEAD
    bool is_1_0 = false;
    bool keep_alive = true;
    std::string cors;  // more headers, for a page of a listed origin
  };
  // A request that is answered later. Belongs to itself until it leaves the line.
  class Exchange;

  size_t TakeRequest(std::string_view in, const Turn& now);
  // The bytes of head and body together; 0: not all there, or not understood.
  size_t Measure(std::string_view in, RequestHead& head, std::string_view& body);
  size_t MeasureChunks(std::string_view in, size_t head_size, std::string_view& body);
  size_t Incomplete(const RequestHead& head);
  size_t Refuse(const Fault& fault);
  void Handle(const RequestHead& head, std::string_view body, const Turn& now);
  void RefuseRoute(const RouteTable::Found& found, const RequestHead& head);
  void RefuseAsker(const Gate::Refusal& refusal);
  void AnswerNow(const Response& response);
  void WriteAnswer(const Response& response, Manner& manner, std::string& out);

  Link& link_;
  const RouteTable& routes_;
  const Gate& gate_;
  const Trusts& trusts_;
  AnswerLine line_;
  const std::shared_ptr<Connection*> self_;  // what responders hold on to, weakly
  const std::shared_ptr<WayBack> way_back_;

  // Of the request that is being read.
  HeadEnd head_end_;
  Chunks chunks_;
  size_t wanted_ = 0;  // bytes, at least
  bool said_continue_ = false;

  // Of answers that may not have reached the peer. Beyond that the oldest are taken to have.
  static constexpr size_t kMostUndone = 256;
  std::vector<std::function<void(const Turn&)>> undo_;

  Manner manner_;  // of the request that is being handled
  bool handling_ = false;
  Waiter* awaited_by_ = nullptr;      // of that request
  std::vector<Exchange*> exchanges_;  // that are not answered yet
  bool blocked_ = false;              // by one that lets nobody pass

  bool partial_ = false;  // a request has come, or begun, and is not answered
  bool draining_ = false;
  bool done_ = false;
};

}  // namespace weir::http

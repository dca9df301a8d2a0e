// One connection of HTTP/1.1: requests one after the other, each answered before the next is looked
// at.
//
//   bytes -> head -> body -> route -> gate -> handler ... Responder -> status, headers, body
//
// While an answer is outstanding nothing is taken: the bytes come again when it has been written.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

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
        self_(std::make_shared<Connection*>(this)),
        way_back_(WayBack::To(link)) {}
  ~Connection() override { way_back_->Close(); }

  size_t Receive(std::string_view in, const Turn& now) override;
  void Drain(const Turn&) override { draining_ = true; }
  void Closed(const Turn& now) override;
  bool asks_for_delivery() const override { return !undo_.empty(); }
  void Delivered() override { undo_.clear(); }
  size_t bytes() const override { return chunks_.bytes(); }
  bool answering() const override { return waiting_; }
  bool idle() const override { return !waiting_ && !partial_; }
  bool done() const override { return done_ || (draining_ && idle()); }

  // The answer to the request that waits for one.
  void Answer(const Response& response);
  // To be called if the answer that follows does not reach a peer that has closed its sending side.
  void IfLost(std::function<void(const Turn&)> undo);

 private:
  size_t TakeRequest(std::string_view in, const Turn& now);
  // The bytes of head and body together; 0: not all there, or not understood.
  size_t Measure(std::string_view in, RequestHead& head, std::string_view& body);
  size_t MeasureChunks(std::string_view in, size_t head_size, std::string_view& body);
  size_t Incomplete(const RequestHead& head);
  size_t Refuse(const Fault& fault);
  void Handle(const RequestHead& head, std::string_view body, const Turn& now);
  void RefuseRoute(const RouteTable::Found& found, const RequestHead& head);
  void RefuseAsker(const Gate::Refusal& refusal);

  Link& link_;
  const RouteTable& routes_;
  const Gate& gate_;
  const Trusts& trusts_;
  const std::shared_ptr<Connection*> self_;  // what responders hold on to, weakly
  const std::shared_ptr<WayBack> way_back_;

  // Of the request that is being read.
  HeadEnd head_end_;
  Chunks chunks_;
  size_t wanted_ = 0;  // bytes, at least
  bool said_continue_ = false;

  std::vector<std::function<void(const Turn&)>> undo_;

  // Of the request that is being answered.
  bool waiting_ = false;
  bool without_body_ = false;  // HEAD
  bool is_1_0_ = false;
  bool keep_alive_ = true;
  std::string cors_;  // more headers, for a page of a listed origin

  bool running_ = false;  // in Receive: what is answered will be written
  bool partial_ = false;  // a request has come, or begun, and is not answered
  bool draining_ = false;
  bool done_ = false;
};

}  // namespace weir::http

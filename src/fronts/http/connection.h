// One connection of HTTP/1.1: requests one after the other, each answered before the next is looked
// at.
//
//   bytes -> head -> body -> route -> handler ... Responder -> status, headers, body
//
// While an answer is outstanding nothing is taken: the bytes come again when it has been written.
#pragma once

#include <memory>
#include <string>

#include "fronts/http/chunks.h"
#include "fronts/http/request_head.h"
#include "fronts/http/responder.h"
#include "fronts/http/route_table.h"
#include "fronts/protocol.h"
#include "fronts/way_back.h"

namespace weir::http {

class Connection : public Protocol {
 public:
  // Both outlive the connection.
  Connection(Link& link, const RouteTable& routes)
      : link_(link),
        routes_(routes),
        self_(std::make_shared<Connection*>(this)),
        way_back_(WayBack::To(link)) {}
  ~Connection() override { way_back_->Close(); }

  size_t Receive(std::string_view in, Instant now) override;
  void Drain() override { draining_ = true; }
  void Closed(Instant) override { way_back_->Close(); }
  bool answering() const override { return waiting_; }
  bool idle() const override { return !waiting_ && !partial_; }
  bool done() const override { return done_ || (draining_ && idle()); }

  // The answer to the request that waits for one.
  void Answer(const Response& response);

 private:
  size_t TakeRequest(std::string_view in);
  // The bytes of head and body together; 0: not all there, or not understood.
  size_t Measure(std::string_view in, RequestHead& head, std::string_view& body);
  size_t MeasureChunks(std::string_view in, size_t head_size, std::string_view& body);
  size_t Incomplete(const RequestHead& head);
  size_t Refuse(const Fault& fault);
  void Handle(const RequestHead& head, std::string_view body);
  void RefuseRoute(const RouteTable::Found& found);

  Link& link_;
  const RouteTable& routes_;
  const std::shared_ptr<Connection*> self_;  // what responders hold on to, weakly
  const std::shared_ptr<WayBack> way_back_;

  // Of the request that is being read.
  HeadEnd head_end_;
  Chunks chunks_;
  size_t wanted_ = 0;  // bytes, at least
  bool said_continue_ = false;

  // Of the request that is being answered.
  bool waiting_ = false;
  bool without_body_ = false;  // HEAD
  bool is_1_0_ = false;
  bool keep_alive_ = true;

  Instant now_{};         // of the last bytes
  bool running_ = false;  // in Receive: what is answered will be written
  bool partial_ = false;  // a request has come, or begun, and is not answered
  bool draining_ = false;
  bool done_ = false;
};

}  // namespace weir::http

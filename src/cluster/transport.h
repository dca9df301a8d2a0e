// What carries bytes between nodes: sockets in the server, a simulated network in the lab. An address
// is a text that only the transport understands.
#pragma once

#include <string>
#include <string_view>

namespace weir::cluster {

class Transport {
 public:
  virtual ~Transport() = default;

  // A datagram; it may get lost, come twice, late or out of order.
  virtual void Send(const std::string& address, std::string_view datagram) = 0;

  // Fetches a state over a stream: the question goes there, to Node::Answer, and the pieces that it
  // gives come back in order, to Node::TakePiece. If they do not, Node::FetchFailed is told. Only one
  // is fetched at a time.
  virtual void Fetch(const std::string& address, std::string question) = 0;
};

}  // namespace weir::cluster

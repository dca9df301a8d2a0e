// A connection: carries bytes between its socket and its protocol, within bounds.
//
// Reading: into the loop's buffer; the protocol is handed that directly, and only what it leaves
// over is copied and kept, so that an idle connection holds no memory. Writing: at once, and what
// the socket does not take when it can. While more than kMostUnsent waits to be written nothing is
// read: a peer that does not read its answers stops being served, and nobody else.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "fronts/protocol.h"
#include "server/net/address.h"
#include "server/net/loop.h"
#include "server/net/port_counters.h"
#include "server/net/stream.h"

namespace weir {

class Connection final : public Link, public Loop::Watcher {
 public:
  // Told when a connection has come to its end.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void Remove(Connection& connection) = 0;
  };

  Connection(Loop& loop, Stream stream, const Address& peer, Front& front, Owner& owner,
             PortCounters& counters);

  // Link
  void Flush() override;
  void Post(std::function<void()> work) override { loop_.Post(std::move(work)); }
  std::string_view peer() const override { return peer_; }

  void OnReady(uint32_t events) override;

  void Drain();
  void Close();
  // Closes it if it has kept the server waiting for longer than `deadline`.
  void Tick(Instant now, Duration deadline);

  bool idle() const { return in_.empty() && out_.empty() && protocol_->idle(); }
  Instant last_active() const { return last_active_; }

  std::list<std::unique_ptr<Connection>>::iterator place;  // in its owner's list

 private:
  void Read();
  void Handle(std::string_view bytes, Instant now);
  void Receive(std::string_view bytes, Instant now);
  bool Write();
  void WatchFor();

  Loop& loop_;
  Stream stream_;
  const std::string peer_;
  Owner& owner_;
  PortCounters& counters_;

  std::string in_;  // what the protocol has not used yet
  uint32_t watched_ = 0;
  bool closed_ = false;
  bool receiving_ = false;  // the protocol is being called
  bool peer_done_ = false;  // nothing more comes
  Instant last_active_{};   // bytes came or went
  Instant unread_since_{};  // since when nothing of in_ was used; valid unless it is empty
  Instant last_written_{};  // something of out(), or it was empty
  std::unique_ptr<Protocol> protocol_;
};

}  // namespace weir

// A connection: carries bytes between its socket and its protocol, within bounds.
//
// Reading: a turn (rota.h) reads once, at most kTurnBytes, into the loop's buffer; the protocol is
// handed that directly, and only what it leaves over is copied and kept. Writing: at once, and what
// the socket does not take when it can. A connection that is idle holds no buffer: those for answers
// are lent by the loop. While link.full() nothing is read: a peer that does not read its answers
// stops being served, and nobody else; and while an answer is awaited, no more than a turn is read
// ahead.
//
// The end: a peer that closes its sending side is answered what it is owed, then the connection ends.
// One that is gone altogether (a reset) is noticed at once. One that merely closed looks like the
// former, until something is written to it: so what it holds is released when it says no more, and
// what it waits for when it has been written, or could not be.
//
// The socket tells of changes only (edge-triggered): `readable_` and `writable_` remember.
#pragma once

#include <list>
#include <memory>
#include <string>

#include "fronts/protocol.h"
#include "net/address.h"
#include "net/loop.h"
#include "net/rota.h"
#include "net/stream.h"
#include "server/connections/backlog.h"
#include "server/connections/port_counters.h"

namespace weir {

class Connection final : public Link, public Loop::Watcher, public Rota::Member {
 public:
  static constexpr size_t kTurnBytes = size_t{16} << 10;

  class Owner {
   public:
    virtual ~Owner() = default;
    // It has come to its end.
    virtual void Remove(Connection& connection) = 0;
    // It takes so many bytes more, or fewer. May close it.
    virtual void Grew(int64_t bytes) = 0;
  };

  Connection(Loop& loop, Stream stream, const Address& peer, Front& front, Owner& owner,
             PortCounters& counters);

  // False if the system will not tell about its socket: it is to be closed.
  bool watched() const { return watched_; }

  // Link
  void Flush() override;
  void FlushSoon() override;
  Executor& executor() override { return loop_; }
  Clock& clock() override { return loop_.clock(); }
  std::string_view peer() const override { return peer_; }

  void OnReady(uint32_t events) override;
  Instant TakeTurn() override;

  void Drain(const Turn& now);
  void Close();
  // Closes it if it has kept the server waiting for longer than `deadline`.
  void Tick(const Turn& now, Duration deadline);

  bool idle() const { return in_.empty() && out_.empty() && protocol_->idle(); }
  Instant last_active() const { return last_active_; }
  // Tells its owner how much memory it takes now, if that has changed by much.
  void CountBytes();
  int64_t counted_bytes() const { return counted_bytes_; }

  std::list<std::unique_ptr<Connection>>::iterator place;  // in its owner's list

 private:
  bool MayRead() const;
  bool HasWork() const;
  void AskForATurn();
  void LookAtBacklog(const Rota::Since& now);
  void Read(const Turn& now);
  void Receive(std::string_view bytes, const Turn& now);
  bool Write();
  void PeerDone(const Turn& now);
  void End();
  // Tells a protocol that asks for it whether all that was written reached the peer's machine.
  void LookForDelivery();

  Loop& loop_;
  Stream stream_;
  const std::string peer_;
  Owner& owner_;
  PortCounters& counters_;

  std::string in_;  // what the protocol has not used yet
  bool watched_ = false;
  bool closed_ = false;
  bool receiving_ = false;  // the protocol is being called
  bool in_turn_ = false;
  bool readable_ = false;  // as far as we know
  bool writable_ = true;
  bool all_came_ = false;   // the socket says so; it may have to be read yet
  bool peer_done_ = false;  // nothing more comes
  bool blocked_ = false;    // the socket did not take all of out()
  bool answered_ = false;   // there is something in out(), of late
  const Instant accepted_;
  Instant last_active_;      // bytes came or went
  Instant unread_since_{};   // since when nothing of in_ was used; valid unless it is empty
  Instant blocked_since_{};  // since when the socket has taken nothing; valid if blocked_
  Backlog backlog_;
  int64_t counted_bytes_ = 0;
  std::unique_ptr<Protocol> protocol_;
};

}  // namespace weir

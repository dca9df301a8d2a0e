// What this node owes to each of its peers, and the gossip that pays it.
//
// A delta state per peer (thesis 000, section 3.1): the pieces of state, by key, that changed and
// that the peer is not known to know. A piece is owed to all but the one that it came from; hearing
// the same piece from a peer settles it as well as an acknowledgement does. Every `interval` one
// peer is told all that it is owed and has not been sent, in envelopes of at most 1200 bytes. What
// was sent stays owed until it is acknowledged (delivery.h; `patience` is the number of peers times
// the interval, the time in which each is chosen once on average), so a lost envelope loses
// nothing.
//
//   envelope = head, acknowledgements, { key, of the key, number of pieces, pieces }
//
// What is written of a key and of a piece is the book's: StateOf, WriteKey and WritePiece.
#pragma once

#include <algorithm>
#include <cassert>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "replication/delivery.h"
#include "replication/key_map.h"

namespace weir {

template <typename Piece>
class Deltas {
 public:
  Deltas(ReplicaKind kind, Origin self, Duration interval, uint64_t seed)
      : kind_(kind), self_(self), interval_(interval), random_(seed) {}

  const Origin& self() const { return self_; }
  size_t peer_count() const { return peers_.size(); }
  uint32_t node(size_t peer) const { return peers_[peer].node; }

  // The numbers of those that were not there before.
  std::vector<uint32_t> SetPeers(std::vector<uint32_t> nodes) {
    std::erase_if(peers_, [&](const Peer& peer) {
      if (std::find(nodes.begin(), nodes.end(), peer.node) != nodes.end()) return false;
      last_numbers_[peer.node] = peer.delivery.last_number();
      return true;
    });
    std::vector<uint32_t> fresh;
    for (const uint32_t node : nodes) {
      if (node == self_.node || Find(node)) continue;
      Peer& peer = peers_.emplace_back();
      peer.node = node;
      if (const auto last = last_numbers_.find(node); last != last_numbers_.end()) {
        peer.delivery = Delivery(last->second);
      }
      fresh.push_back(node);
    }
    return fresh;
  }

  // Pieces that are given together are in ascending order.

  // To all peers but `source`, which is a node.
  void Owe(const Key& key, std::span<const Piece> pieces, uint32_t source) {
    if (pieces.empty()) return;
    for (Peer& peer : peers_) {
      if (peer.node != source) OweTo(peer, key, pieces);
    }
  }
  // Each node tells a newcomer its own pieces; those of nodes that are no peers, and the newcomer's
  // own of an earlier life, are told by all.
  void OweNewcomer(uint32_t node, uint32_t owner, const Key& key, const Piece& piece) {
    Peer* peer = Find(node);
    if (peer != nullptr && (owner == node || !Find(owner))) OweTo(*peer, key, One(piece));
  }
  // To this peer, whatever it may know already.
  void OweEverything(uint32_t node, const Key& key, const Piece& piece) {
    if (Peer* peer = Find(node)) OweTo(*peer, key, One(piece));
  }
  // The peer knows them, as they are now.
  void Known(uint32_t node, const Key& key, std::span<const Piece> pieces) {
    if (Peer* peer = Find(node)) Settle(*peer, key, pieces);
  }
  // There are no such pieces any more.
  void Drop(const Key& key, std::span<const Piece> pieces) {
    if (pieces.empty()) return;
    for (Peer& peer : peers_) Settle(peer, key, pieces);
  }
  static std::span<const Piece> One(const Piece& piece) { return {&piece, 1}; }

  // What waits to be sent to the peer.
  std::vector<Piece> Unsent(size_t peer, const Key& key) const {
    std::vector<Piece> unsent;
    const auto it = peers_[peer].owed.find(key);
    if (it == peers_[peer].owed.end()) return unsent;
    for (const Owed& owed : it->second) {
      if (owed.sent_in == 0) unsent.push_back(owed.piece);
    }
    return unsent;
  }
  // Pieces that some peer is not known to know.
  size_t owed() const {
    size_t sum = 0;
    for (const Peer& peer : peers_) {
      for (const auto& [key, pieces] : peer.owed) sum += pieces.size();
    }
    return sum;
  }

  Instant next() const { return next_; }
  // Whether it is time for gossip. The first time is a random part of an interval after the start,
  // so that nodes that start together do not speak together.
  bool Due(Instant now) {
    if (now < next_) return false;
    const bool first = next_ == Instant::min();
    const auto phase = static_cast<uint64_t>(interval_.count());
    next_ = first                     ? now + Duration(phase > 0 ? random_.Below(phase) : 0)
            : next_ + interval_ > now ? next_ + interval_
                                      : now + interval_;
    return !first;
  }
  size_t AnyPeer() { return random_.Below(peers_.size()); }
  // The one for which most waits (Listings 4.6 to 4.8); chance decides between equals.
  size_t LeastInformedPeer() {
    size_t chosen = 0, equals = 0;
    for (size_t i = 0; i < peers_.size(); ++i) {
      if (equals > 0 && peers_[i].unsent < peers_[chosen].unsent) continue;
      if (equals > 0 && peers_[i].unsent > peers_[chosen].unsent) equals = 0;
      if (random_.Below(++equals) == 0) chosen = i;
    }
    return chosen;
  }

  // Tells this peer what it is owed, now.
  template <typename Book>
  std::vector<Envelope> TellNow(uint32_t node, const Book& book, Instant now) {
    std::vector<Envelope> out;
    for (size_t i = 0; i < peers_.size(); ++i) {
      if (peers_[i].node == node) Gossip(i, book, now, out);
    }
    return out;
  }
  // Tells every peer what it is owed.
  template <typename Book>
  std::vector<Envelope> TellAll(const Book& book, Instant now) {
    std::vector<Envelope> out;
    for (size_t i = 0; i < peers_.size(); ++i) Gossip(i, book, now, out);
    return out;
  }
  // Tells the peer everything, and acknowledges to others what has waited too long.
  template <typename Book>
  void Gossip(size_t chosen, const Book& book, Instant now, std::vector<Envelope>& out) {
    Peer& peer = peers_[chosen];
    for (const Delivery::Sent& sent : peer.delivery.Lost(now, patience())) OweAgain(peer, sent);
    if (peer.unsent > 0) {
      Packing<Book> packing{*this, peer, book, now, out};
      for (auto& [key, pieces] : peer.owed) packing.Add(key, pieces);
      packing.Close();
    }
    if (peer.delivery.MustAcknowledge()) Acknowledge(peer, out);
    for (Peer& other : peers_) {
      if (other.delivery.MustAcknowledge(now, patience())) Acknowledge(other, out);
    }
  }
  // Tells the peer what it is owed of one key.
  template <typename Book>
  void Push(size_t chosen, const Key& key, const Book& book, Instant now,
            std::vector<Envelope>& out) {
    Peer& peer = peers_[chosen];
    const auto it = peer.owed.find(key);
    if (it == peer.owed.end()) return;
    Packing<Book> packing{*this, peer, book, now, out};
    packing.Add(key, it->second);
    packing.Close();
  }

  // Of an envelope that was read to its end. Answers whether the peer has come back as another:
  // it knows nothing then.
  bool Heard(const EnvelopeHead& head, const Acknowledgements& acknowledged, Instant now) {
    Peer* peer = Find(head.sender.node);
    if (peer == nullptr) return false;
    const bool met = peer->met;
    if (met && head.sender.incarnation < peer->incarnation) return false;
    const bool another = met && head.sender.incarnation > peer->incarnation;
    peer->met = true;
    peer->incarnation = head.sender.incarnation;
    if (another) OweAllAgain(*peer);
    if (another) peer->delivery.ForgetHeard();
    if (head.sequence > 0) {
      peer->delivery.Heard(head.sender, static_cast<uint32_t>(head.sequence), now);
    }
    if (acknowledged.incarnation != self_.incarnation) return another;
    for (const uint32_t number : acknowledged.numbers) {
      if (const auto sent = peer->delivery.Acknowledged(number)) SettleSent(*peer, *sent);
    }
    return another;
  }

  size_t bytes() const {
    size_t sum = peers_.capacity() * sizeof(Peer);
    for (const Peer& peer : peers_) {
      sum += peer.delivery.bytes() + MapBytes(peer.owed);
      for (const auto& [key, pieces] : peer.owed) sum += pieces.capacity() * sizeof(Owed);
    }
    return sum;
  }

 private:
  struct Owed {
    Piece piece;
    uint32_t sent_in = 0;  // the envelope's number; 0: not sent since it changed
  };
  using Pieces = std::vector<Owed>;  // ascending

  struct Peer {
    uint32_t node = 0;
    uint32_t incarnation = 0;
    bool met = false;
    size_t unsent = 0;
    KeyMap<Pieces> owed;
    Delivery delivery;
  };

  // Fills envelopes for one peer, one after the other.
  template <typename Book>
  struct Packing {
    Deltas& deltas;
    Peer& peer;
    const Book& book;
    Instant now;
    std::vector<Envelope>& out;
    uint32_t number = 0;
    std::string head, body;
    std::vector<Owed*> waiting;
    EnvelopeWriter of_key{EnvelopeHead{}}, of_pieces{EnvelopeHead{}};  // behind a head that is cut
    const size_t blank = of_key.size();

    void Add(const Key& key, Pieces& pieces) {
      waiting.clear();
      for (Owed& owed : pieces) {
        if (owed.sent_in == 0) waiting.push_back(&owed);
      }
      for (size_t from = 0; from < waiting.size();) from = AddSome(key, from);
    }
    // Of those that wait, as many as fit, at least one; returns the first that did not.
    size_t AddSome(const Key& key, size_t from) {
      Open();
      const auto& state = book.StateOf(key);
      of_key.Cut(blank);
      of_pieces.Cut(blank);
      of_key.Name(key);
      book.WriteKey(of_key, state, now);
      const size_t taken = head.size() + body.size() + of_key.size() - blank + kCountBytes;
      size_t end = from, size = of_pieces.size();
      for (; end < waiting.size(); ++end) {
        book.WritePiece(of_pieces, state, waiting[end]->piece, now);
        if (taken + of_pieces.size() - blank > kMostEnvelopeBytes) break;
        size = of_pieces.size();
      }
      if (end == from) {
        assert(!body.empty());
        Close();
        return from;
      }
      of_key.Number(end - from);
      body += of_key.bytes().substr(blank);
      body += of_pieces.bytes().substr(blank, size - blank);
      for (size_t i = from; i < end; ++i) waiting[i]->sent_in = number;
      peer.delivery.Carries(key);
      peer.unsent -= end - from;
      return end;
    }
    void Open() {
      if (number > 0) return;
      number = peer.delivery.Send(now);
      EnvelopeWriter writer({deltas.kind_, deltas.self_, number});
      peer.delivery.WriteAcknowledgements(writer);
      head = writer.Take();
    }
    void Close() {
      if (number > 0) out.push_back({peer.node, head + body});
      number = 0;
      body.clear();
    }
  };
  static constexpr size_t kCountBytes = 2;

  Peer* Find(uint32_t node) {
    const auto it = std::find_if(peers_.begin(), peers_.end(),
                                 [&](const Peer& peer) { return peer.node == node; });
    return it == peers_.end() ? nullptr : &*it;
  }
  template <typename Some>
  static auto Place(Some& pieces, const Piece& piece) {
    return std::lower_bound(pieces.begin(), pieces.end(), piece,
                            [](const Owed& owed, const Piece& p) { return owed.piece < p; });
  }
  void OweTo(Peer& peer, const Key& key, std::span<const Piece> more) {
    Pieces& pieces = peer.owed[key];
    pieces.reserve(std::max(pieces.size(), more.size()));
    auto at = pieces.begin();  // after the one before: most come in order
    for (const Piece& piece : more) {
      if (at == pieces.end() || at->piece != piece) at = Place(pieces, piece);
      if (at == pieces.end() || at->piece != piece) {
        at = pieces.insert(at, Owed{piece});
        ++peer.unsent;
      } else if (at->sent_in != 0) {
        at->sent_in = 0;
        ++peer.unsent;
      }
      ++at;
    }
  }
  void Settle(Peer& peer, const Key& key, std::span<const Piece> known) {
    const auto it = peer.owed.find(key);
    if (it == peer.owed.end()) return;
    Pieces& pieces = it->second;
    auto kept = pieces.begin(), at = pieces.begin();
    for (const Piece& piece : known) {
      auto next = at;
      if (next == pieces.end() || next->piece != piece) {
        next = std::lower_bound(at, pieces.end(), piece,
                                [](const Owed& owed, const Piece& p) { return owed.piece < p; });
      }
      kept = kept == at ? next : std::move(at, next, kept);
      at = next;
      if (at == pieces.end() || at->piece != piece) continue;
      if (at->sent_in == 0) --peer.unsent;
      ++at;
    }
    pieces.erase(std::move(at, pieces.end(), kept), pieces.end());
    if (pieces.empty()) peer.owed.erase(it);
  }
  void SettleSent(Peer& peer, const Delivery::Sent& sent) {
    for (const Key& key : sent.keys) {
      const auto it = peer.owed.find(key);
      if (it == peer.owed.end()) continue;
      std::erase_if(it->second, [&](const Owed& owed) { return owed.sent_in == sent.number; });
      if (it->second.empty()) peer.owed.erase(it);
    }
  }
  void OweAgain(Peer& peer, const Delivery::Sent& sent) {
    for (const Key& key : sent.keys) {
      const auto it = peer.owed.find(key);
      if (it == peer.owed.end()) continue;
      for (Owed& owed : it->second) {
        if (owed.sent_in != sent.number) continue;
        owed.sent_in = 0;
        ++peer.unsent;
      }
    }
  }
  void OweAllAgain(Peer& peer) {
    for (const Delivery::Sent& sent : peer.delivery.TakeSent()) OweAgain(peer, sent);
  }
  void Acknowledge(Peer& peer, std::vector<Envelope>& out) {
    EnvelopeWriter writer({kind_, self_, 0});
    peer.delivery.WriteAcknowledgements(writer);
    out.push_back({peer.node, writer.Take()});
  }
  Duration patience() const { return interval_ * static_cast<int64_t>(peers_.size()); }

  const ReplicaKind kind_;
  const Origin self_;
  const Duration interval_;

  Random random_;
  Instant next_ = Instant::min();
  std::vector<Peer> peers_;
  std::unordered_map<uint32_t, uint32_t> last_numbers_;  // to those that left
};

}  // namespace weir

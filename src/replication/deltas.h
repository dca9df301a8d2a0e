// What this node owes to each of its peers, and the gossip that pays it.
//
// A delta state per peer (thesis 000, section 3.1): the pieces of state, by key, that changed and
// that the peer is not known to know. A piece is owed to all but the one that it came from; hearing
// the same piece from a peer settles it as well as an acknowledgement does. Every `interval` one
// peer is told all that it is owed and has not been sent, in envelopes that fit a datagram. What
// was sent stays owed until it is acknowledged (delivery.h; `patience` is the number of peers times
// the interval, the time in which each is chosen once on average), so a lost envelope loses
// nothing.
//
//   envelope = head, acknowledgements, { key, of the key, number of pieces, pieces }
//
// What is written of a key and of a piece is the book's: StateOf, WriteKey and WritePiece. If whole states
// are told (WriteRows), a state is one piece, Piece{}, though it may take several envelopes.
#pragma once

#include <algorithm>
#include <cassert>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "mail/delivery.h"
#include "replication/owed_table.h"

namespace weir {

template <typename Piece>
class Deltas {
 public:
  Deltas(EnvelopeKind kind, Origin self, Duration interval, uint64_t seed, bool whole = false)
      : kind_(kind), self_(self), interval_(interval), whole_(whole), random_(seed) {}

  const Origin& self() const { return self_; }
  size_t peer_count() const { return peers_.size(); }
  uint32_t node(size_t peer) const { return peers_[peer].node; }

  // Those that were not there before are told what they have to know (TellNewcomers).
  void SetPeers(std::vector<uint32_t> nodes) {
    std::vector<size_t> before;
    std::vector<Peer> peers;
    for (size_t i = 0; i < peers_.size(); ++i) {
      if (std::find(nodes.begin(), nodes.end(), peers_[i].node) == nodes.end()) {
        last_numbers_[peers_[i].node] = peers_[i].delivery.last_number();
        over_.push_back(peers_[i].delivery.TakeSent());
        over_.push_back(std::move(peers_[i].given_up));
        over_.push_back(std::move(peers_[i].acknowledged));
        continue;
      }
      before.push_back(i);
      peers.push_back(std::move(peers_[i]));
    }
    peers_ = std::move(peers);
    std::vector<uint32_t> fresh;
    for (const uint32_t node : nodes) {
      if (node == self_.node || Find(node) != kNobody) continue;
      Peer& peer = peers_.emplace_back();
      peer.node = node;
      if (const auto last = last_numbers_.find(node); last != last_numbers_.end()) {
        peer.delivery = Delivery(last->second);
      }
      before.push_back(kNobody);
      fresh.push_back(node);
    }
    owed_.SetPeers(before);
    for (const uint32_t node : fresh) Welcome(node);
  }

  // Pieces that are given together are in ascending order.
  // To all peers but `source`.
  void Owe(const Key& key, std::span<const Piece> pieces, Origin source) {
    owed_.Owe(key, pieces, FindLife(source));
  }
  // Each node tells a newcomer its own pieces; those of nodes that are no peers, and the newcomer's
  // own of an earlier life, are told by all. `pieces` calls owe(owner, piece) for each of a state.
  template <typename Map, typename Pieces>
  void TellNewcomers(const Map& states, Steps& steps, const Pieces& pieces) {
    for (; !newcomers_.empty(); newcomers_.pop_back()) {
      Newcomer& one = newcomers_.back();
      const size_t peer = Find(one.node);
      if (peer == kNobody) continue;
      while (const auto* entry = states.Before(one.left)) {
        if (!steps.any()) return;
        steps.Take(Steps::kOfKey);
        pieces(entry->second, [&](uint32_t owner, const Piece& piece) {
          const bool by_owner =
              owner != one.node && std::binary_search(one.others.begin(), one.others.end(), owner);
          if (by_owner) return;
          steps.Take(Steps::kOfKey);
          owed_.OweUnlessSent(peer, entry->first, piece);
        });
        one.left -= 1;
      }
    }
  }
  // What peers that came, went or are others now have left to do.
  void Tidy(Steps& steps) {
    owed_.Tidy(steps);
    for (size_t i = 0; i < peers_.size(); ++i) {
      std::vector<Delivery::Sent>& lost = peers_[i].given_up;
      for (; !lost.empty() && steps.any(); lost.pop_back()) OweAgain(i, lost.back(), steps);
      std::vector<Delivery::Sent>& came = peers_[i].acknowledged;
      for (; !came.empty() && steps.any(); came.pop_back()) {
        steps.Take(1 + came.back().keys.size() * Steps::kOfKey);
        owed_.SetSent(i, came.back(), OwedTable<Piece>::kKnown);
      }
    }
    for (; !over_.empty() && steps.any(); over_.pop_back()) {
      for (; !over_.back().empty() && steps.any(); over_.back().pop_back()) {
        steps.Take(Steps::kOfLookup);
      }
      if (!over_.back().empty()) break;
    }
  }
  // There is more to do than was done in one turn.
  bool busy() const {
    return rounds_ > 0 || !newcomers_.empty() || !over_.empty() || owed_.untidy() ||
           std::any_of(peers_.begin(), peers_.end(), [](const Peer& peer) {
             return !peer.given_up.empty() || !peer.acknowledged.empty();
           });
  }
  // The peer knows them, as they are now.
  void Known(Origin node, const Key& key, std::span<const Piece> pieces) {
    if (const size_t peer = FindLife(node); peer != kNobody) owed_.Settle(peer, key, pieces);
  }
  // They are about to be needed.
  void Fetch(std::span<const Key> keys) const { owed_.Fetch(keys); }
  // There are no such pieces any more.
  void Drop(const Key& key, std::span<const Piece> pieces) { owed_.Drop(key, pieces); }

  // What waits to be sent to the peer.
  std::vector<Piece> Unsent(size_t peer, const Key& key) {
    const Topic* topic = owed_.Find(key);
    if (topic == nullptr) return {};
    std::vector<size_t> rows;
    owed_.Waiting(*topic, peer, rows);
    std::vector<Piece> unsent;
    for (const size_t row : rows) unsent.push_back(topic->rows[row].piece);
    return unsent;
  }
  // Pieces that some peer is not known to know.
  size_t owed() const { return owed_.owed(); }

  Instant next() const { return busy() ? Instant::min() : next_; }
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
      if (equals > 0 && owed_.unsent(i) < owed_.unsent(chosen)) continue;
      if (equals > 0 && owed_.unsent(i) > owed_.unsent(chosen)) equals = 0;
      if (random_.Below(++equals) == 0) chosen = i;
    }
    return chosen;
  }

  // Tells every peer what it is owed.
  template <typename Book>
  std::vector<Envelope> TellAll(const Book& book, Instant now) {
    std::vector<Envelope> out;
    Steps steps = Steps::Unbounded();
    for (size_t i = 0; i < peers_.size(); ++i) {
      round_ = Round{peers_[i].node};
      GoOn(book, now, steps, out);
    }
    rounds_ = 0;
    return out;
  }
  // So many peers are told everything, one after the other: choose() says who is next.
  void Begin(uint32_t rounds) { rounds_ = rounds; }
  bool gossips() const { return rounds_ > 0; }
  template <typename Book, typename Choose>
  void Gossip(const Book& book, Instant now, Steps& steps, std::vector<Envelope>& out,
              const Choose& choose) {
    if (peers_.empty()) rounds_ = 0;
    while (rounds_ > 0 && steps.any()) {
      if (!round_) round_ = Round{peers_[choose()].node};
      GoOn(book, now, steps, out);
      if (!round_) rounds_ -= 1;
    }
  }
  // Tells the peer what it is owed of one key.
  template <typename Book>
  void Push(size_t chosen, const Key& key, const Book& book, Instant now,
            std::vector<Envelope>& out) {
    Topic* topic = owed_.Find(key);
    if (topic == nullptr) return;
    Packing<Book> packing{*this, chosen, peers_[chosen], book, now, out};
    packing.Add(key, *topic);
    packing.Close();
  }

  // Of an envelope that was read to its end. A peer that has come back as another knows nothing.
  void Heard(const EnvelopeHead& head, const Acknowledgements& acknowledged, Instant now) {
    const size_t from = Find(head.sender.node);
    if (from == kNobody) return;
    Peer& peer = peers_[from];
    if (peer.met && head.sender.incarnation < peer.incarnation) return;
    const bool another = peer.met && head.sender.incarnation > peer.incarnation;
    peer.met = true;
    peer.incarnation = head.sender.incarnation;
    if (another) {
      peer.delivery.ForgetHeard();
      // An earlier life knew what is acknowledged; this one does not.
      for (Delivery::Sent& sent : std::exchange(peer.acknowledged, {})) {
        peer.given_up.push_back(std::move(sent));
      }
      for (Delivery::Sent& sent : peer.delivery.TakeSent()) {
        peer.given_up.push_back(std::move(sent));
      }
      Welcome(peer.node);
    }
    if (head.sequence > 0) {
      peer.delivery.Heard(head.sender, static_cast<uint32_t>(head.sequence), now);
    }
    if (acknowledged.incarnation != self_.incarnation) return;
    for (const uint32_t number : acknowledged.numbers) {
      if (auto sent = peer.delivery.Acknowledged(number)) {
        peer.acknowledged.push_back(std::move(*sent));
      }
    }
  }

  bool CountTopics(size_t number, Steps& steps, MemoryCount& count) const {
    return owed_.CountTopics(number, steps, count);
  }
  // Without what the topics own.
  size_t bytes() const {
    size_t sum = owed_.bytes() + peers_.capacity() * sizeof(Peer);
    for (const Peer& peer : peers_) sum += peer.delivery.bytes();
    return sum;
  }

 private:
  using Topic = typename OwedTable<Piece>::Topic;
  static constexpr size_t kNobody = OwedTable<Piece>::kNobody;
  static constexpr uint32_t kWaits = OwedTable<Piece>::kWaits;

  struct Peer {
    uint32_t node = 0;
    uint32_t incarnation = 0;
    bool met = false;
    Delivery delivery;
    std::vector<Delivery::Sent> given_up;      // and is to be owed again
    std::vector<Delivery::Sent> acknowledged;  // and is owed no more
  };
  // All that is known is gone through for it, from the last state to the first (KeyMap::Before).
  struct Newcomer {
    uint32_t node = 0;
    std::vector<uint32_t> others;  // who are peers too, and tell it their own
    size_t left = SIZE_MAX;
  };
  // A peer is being told everything.
  struct Round {
    uint32_t node = 0;
    bool none_lost = false;  // what was lost is owed again
    size_t place = 0;        // of the topics, the next
  };

  // Fills envelopes for one peer, one after the other.
  template <typename Book>
  struct Packing {
    Deltas& deltas;
    const size_t chosen;
    Peer& peer;
    const Book& book;
    Instant now;
    std::vector<Envelope>& out;
    uint32_t number = 0;
    std::string head, body;
    std::vector<size_t> waiting;                                       // rows
    EnvelopeWriter of_key{EnvelopeHead{}}, of_pieces{EnvelopeHead{}};  // behind a head that is cut
    const size_t blank = of_key.size();
    size_t taken = 0;  // of the envelope, with the key that is being added

    // From a place on, while there are steps; true: that was all.
    bool AddFrom(size_t& place, Steps& steps) {
      std::vector<Key> keys;
      std::vector<Topic*> topics;
      const bool all =
          deltas.owed_.ForEachWaiting(chosen, place, steps, [&](const Key& key, Topic& topic) {
            keys.push_back(key);
            topics.push_back(&topic);
          });
      for (size_t i = 0; i < keys.size(); ++i) {
        if constexpr (requires { book.Fetch({}); }) {
          if (i % kFetched == 0) {
            book.Fetch(std::span(keys).subspan(i, std::min(kFetched, keys.size() - i)));
          }
        }
        Add(keys[i], *topics[i]);
      }
      return all;
    }
    void Add(const Key& key, Topic& topic) {
      if (deltas.owed_.WaitingOf(topic, chosen) == 0) return;
      if constexpr (requires { &Book::WriteRows; }) {
        if (deltas.whole_) return AddWhole(key, topic);
      }
      deltas.owed_.Waiting(topic, chosen, waiting);
      for (size_t from = 0; from < waiting.size();) from = AddSome(key, topic, from);
    }
    const auto& Begin(const Key& key) {
      Open();
      const auto& state = book.StateOf(key);
      of_key.Cut(blank);
      of_pieces.Cut(blank);
      of_key.Name(key);
      book.WriteKey(of_key, state, now);
      taken = head.size() + body.size() + of_key.size() - blank + kCountBytes;
      return state;
    }
    // In one envelope if it fits one, else in as many as it takes.
    void AddWhole(const Key& key, Topic& topic) {
      for (size_t from = 0, end = 0;; from = end) {
        const auto& state = Begin(key);
        const size_t room = blank + kMostEnvelopeBytes - std::min(kMostEnvelopeBytes, taken);
        const size_t size = book.RowsOf(state);
        end = book.WriteRows(of_pieces, state, from, room);
        if (end < size && !body.empty()) {
          Close();
          end = from;
          continue;
        }
        of_key.Number(end - from);
        body += of_key.bytes().substr(blank);
        body += of_pieces.bytes().substr(blank);
        peer.delivery.Carries(key);
        if (end == size) break;
        Close();
      }
      deltas.owed_.NoteSent(topic, 0, chosen, number);
    }
    // Of those that wait, as many as fit, at least one; returns the first that did not.
    size_t AddSome(const Key& key, Topic& topic, size_t from) {
      const auto& state = Begin(key);
      size_t end = from, size = of_pieces.size();
      for (; end < waiting.size(); ++end) {
        book.WritePiece(of_pieces, state, topic.rows[waiting[end]].piece, now);
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
      for (size_t i = from; i < end; ++i) {
        deltas.owed_.NoteSent(topic, waiting[i], chosen, number);
      }
      peer.delivery.Carries(key);
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
  static constexpr size_t kFetched = 8;  // states at once

  void Welcome(uint32_t node) {
    std::erase_if(newcomers_, [&](const Newcomer& one) { return one.node == node; });
    Newcomer& one = newcomers_.emplace_back();
    one.node = node;
    for (const Peer& peer : peers_) one.others.push_back(peer.node);
    std::sort(one.others.begin(), one.others.end());
  }

  // Tells the peer of this round everything, and acknowledges to others what has waited too long.
  template <typename Book>
  void GoOn(const Book& book, Instant now, Steps& steps, std::vector<Envelope>& out) {
    const size_t chosen = Find(round_->node);
    if (chosen == kNobody) return round_.reset();
    Peer& peer = peers_[chosen];
    while (!round_->none_lost) {
      if (!steps.any()) return;
      const auto lost = peer.delivery.Lost(now, patience());
      if (lost) OweAgain(chosen, *lost, steps);
      round_->none_lost = !lost;
    }
    if (owed_.unsent(chosen) > 0) {
      Packing<Book> packing{*this, chosen, peer, book, now, out};
      const bool all = packing.AddFrom(round_->place, steps);
      packing.Close();
      if (!all) return;
    }
    Acknowledge(peer, out);
    for (Peer& other : peers_) {
      if (other.delivery.MustAcknowledge(now, patience())) Acknowledge(other, out);
    }
    round_.reset();
  }

  // It did not come. Part of a state is all of it: the rest may have come and been taken for it.
  void OweAgain(size_t peer, const Delivery::Sent& sent, Steps& steps) {
    steps.Take(1 + sent.keys.size() * Steps::kOfKey);
    if (!whole_) return owed_.SetSent(peer, sent, kWaits);
    for (const Key& key : sent.keys) owed_.OweTo(peer, key, Piece{});
  }

  size_t Find(uint32_t node) const {
    const auto it = std::find_if(peers_.begin(), peers_.end(),
                                 [&](const Peer& peer) { return peer.node == node; });
    return it == peers_.end() ? kNobody : static_cast<size_t>(it - peers_.begin());
  }
  // What a life knew that is over, the next one need not know.
  size_t FindLife(Origin life) const {
    const size_t peer = Find(life.node);
    const bool over =
        peer != kNobody && peers_[peer].met && life.incarnation < peers_[peer].incarnation;
    return over ? kNobody : peer;
  }
  void Acknowledge(Peer& peer, std::vector<Envelope>& out) {
    while (peer.delivery.MustAcknowledge()) {
      EnvelopeWriter writer({kind_, self_, 0});
      peer.delivery.WriteAcknowledgements(writer);
      out.push_back({peer.node, writer.Take()});
    }
  }
  Duration patience() const { return interval_ * static_cast<int64_t>(peers_.size()); }

  const EnvelopeKind kind_;
  const Origin self_;
  const Duration interval_;
  const bool whole_;

  Random random_;
  Instant next_ = Instant::min();
  std::vector<Peer> peers_;
  std::unordered_map<uint32_t, uint32_t> last_numbers_;  // to those that left
  OwedTable<Piece> owed_;
  std::vector<Newcomer> newcomers_;
  std::vector<std::vector<Delivery::Sent>> over_;  // of peers that left: to be given back
  uint32_t rounds_ = 0;                            // of gossip that is under way
  std::optional<Round> round_;
};

}  // namespace weir

// What is owed to whom: for each key a table of its pieces and all peers.
//
//   a cell is   kKnown   the peer knows the piece as it is, or it is not owed to it
//               kWaits   it has not been sent since it changed
//               n        it was sent in envelope n, which is not acknowledged yet
//
// A piece that everybody knows has no row, a key without rows no table. News go to all peers but
// one, so they lie together: to owe something is to look its key up once, not once a peer.
//
// When peers come and go, tables stay as they are until they are next looked at, or until Tidy comes by:
// each knows after which change of the peers it was laid out.
#pragma once

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "mail/delivery.h"
#include "replication/key_map.h"
#include "replication/memory_count.h"
#include "replication/steps.h"

namespace weir {

template <typename Piece>
class OwedTable {
 public:
  static constexpr uint32_t kWaits = 0, kKnown = UINT32_MAX;
  static constexpr size_t kNobody = SIZE_MAX;

  struct Row {
    Piece piece;
    uint32_t left = 0;  // cells that are not kKnown
  };
  struct Topic {
    std::vector<Row> rows;        // ascending
    std::vector<uint32_t> cells;  // how many wait for each peer, then the rows, one after the other
    uint32_t layout = 0;          // as the peers were then
  };

  KeyMap<Topic>& topics() { return topics_; }
  const KeyMap<Topic>& topics() const { return topics_; }
  // Pieces of all keys that wait for the peer.
  size_t unsent(size_t peer) const { return unsent_[peer]; }

  // `before` tells for each peer which it was before, kNobody for a new one.
  void SetPeers(const std::vector<size_t>& before) {
    const auto follow = [&](const auto& old, auto nothing) {
      std::decay_t<decltype(old)> now(before.size(), nothing);
      for (size_t peer = 0; peer < before.size(); ++peer) {
        if (before[peer] != kNobody) now[peer] = old[before[peer]];
      }
      return now;
    };
    if (!topics_.empty()) {
      for (auto& [layout, moved] : moved_) moved.from = follow(moved.from, kNobody);
      moved_[layout_] = {unsent_.size(), before};
      layout_ += 1;
      untidy_ = SIZE_MAX;
    }
    unsent_ = follow(unsent_, size_t{0});
  }
  // Tables that lie as the peers were before, and may tell of nobody any more.
  bool untidy() const { return !moved_.empty(); }
  void Tidy(Steps& steps) {
    if (!untidy()) return;
    while (topics_.Before(untidy_) != nullptr) {
      if (!steps.any()) return;
      steps.Take(Steps::kOfKey);
      const auto it = topics_.begin() + static_cast<ptrdiff_t>(untidy_ - 1);
      Bring(it->second);
      if (it->second.rows.empty()) topics_.erase(it);
      untidy_ -= 1;
    }
    moved_.clear();
  }

  // Pieces that are given together are in ascending order.

  // To all peers but one.
  void Owe(const Key& key, std::span<const Piece> pieces, size_t but) {
    if (pieces.empty() || unsent_.empty()) return;
    Topic& topic = Made(key);
    size_t row = 0;
    for (const Piece& piece : pieces) {
      row = RowOf(topic, piece, row);
      for (size_t peer = 0; peer < unsent_.size(); ++peer) {
        if (peer != but) Set(topic, row, peer, kWaits);
      }
      ++row;
    }
    Compact(key);  // a lone peer may be the one
  }
  void OweTo(size_t peer, const Key& key, const Piece& piece) {
    Topic& topic = Made(key);
    Set(topic, RowOf(topic, piece, 0), peer, kWaits);
  }
  // Unless it is under way to it.
  void OweUnlessSent(size_t peer, const Key& key, const Piece& piece) {
    Topic& topic = Made(key);
    const size_t row = RowOf(topic, piece, 0);
    if (At(topic, row, peer) == kKnown) Set(topic, row, peer, kWaits);
  }
  // What is owed of a key; null: nothing.
  Topic* Find(const Key& key) {
    const auto it = topics_.find(key);
    if (it == topics_.end()) return nullptr;
    Bring(it->second);
    return &it->second;
  }
  // The peer knows them.
  void Settle(size_t peer, const Key& key, std::span<const Piece> pieces) {
    const auto it = topics_.find(key);
    if (it == topics_.end()) return;
    Bring(it->second);
    ForEach(it->second, pieces, [&](size_t row) { Set(it->second, row, peer, kKnown); });
    Compact(key);
  }
  // There are no such pieces any more.
  void Drop(const Key& key, std::span<const Piece> pieces) {
    const auto it = topics_.find(key);
    if (it == topics_.end()) return;
    Bring(it->second);
    ForEach(it->second, pieces, [&](size_t row) {
      for (size_t peer = 0; peer < unsent_.size(); ++peer) Set(it->second, row, peer, kKnown);
    });
    Compact(key);
  }
  // What the envelope told and has not changed since becomes `cell`.
  void SetSent(size_t peer, const Delivery::Sent& sent, uint32_t cell) {
    for (const Key& key : sent.keys) {
      const auto it = topics_.find(key);
      if (it == topics_.end()) continue;
      Bring(it->second);
      for (size_t row = 0; row < it->second.rows.size(); ++row) {
        if (At(it->second, row, peer) == sent.number) Set(it->second, row, peer, cell);
      }
      Compact(key);
    }
  }

  size_t WaitingOf(const Topic& topic, size_t peer) const {
    return topic.rows.empty() ? 0 : topic.cells[peer];
  }
  // Calls act for the tables from a place on in which something waits for the peer, while there are steps;
  // true: those were all. What moves meanwhile from the end to a place before waits for the next time.
  template <typename Act>
  bool ForEachWaiting(size_t peer, size_t& place, Steps& steps, const Act& act) {
    constexpr ptrdiff_t kAhead = 8;
    for (auto it = topics_.begin() + static_cast<ptrdiff_t>(std::min(place, topics_.size()));
         it != topics_.end(); ++it, ++place) {
      if (!steps.any()) return false;
      if (topics_.end() - it > kAhead) Prefetch((it + kAhead)->second.cells.data());
      Bring(it->second);
      const size_t waiting = WaitingOf(it->second, peer);
      steps.Take(2 + waiting * Steps::kOfKey);  // its cells lie elsewhere
      if (waiting > 0) act(it->first, it->second);
    }
    return true;
  }
  // They are about to be needed.
  void Fetch(std::span<const Key> keys) const {
    topics_.Fetch(keys, [](const Topic& topic) {
      Prefetch(topic.rows.data());
      for (size_t at = 0; at < topic.cells.size(); at += 16) Prefetch(&topic.cells[at]);
    });
  }
  // The rows that wait for the peer.
  void Waiting(const Topic& topic, size_t peer, std::vector<size_t>& rows) const {
    rows.clear();
    if (WaitingOf(topic, peer) == 0) return;
    for (size_t row = 0; row < topic.rows.size(); ++row) {
      if (At(topic, row, peer) == kWaits) rows.push_back(row);
    }
  }
  void NoteSent(Topic& topic, size_t row, size_t peer, uint32_t number) {
    Set(topic, row, peer, number);
  }

  size_t owed() const {
    size_t sum = 0;
    for (const auto& [key, topic] : topics_) {
      const Topic now = topic.layout == layout_ ? topic : Brought(topic);
      for (const Row& row : now.rows) sum += row.left;
    }
    return sum;
  }
  // Without what the topics own (CountTopics).
  size_t bytes() const { return topics_.bytes() + unsent_.capacity() * sizeof(size_t); }
  bool CountTopics(size_t number, Steps& steps, MemoryCount& count) const {
    return CountStates(topics_, number, steps, count, [](const Topic& topic) {
      return topic.rows.capacity() * sizeof(Row) + topic.cells.capacity() * sizeof(uint32_t);
    });
  }

 private:
  // Where the peers were in a layout.
  struct Moved {
    size_t peers = 0;
    std::vector<size_t> from;
  };

  Topic& Made(const Key& key) {
    const auto [it, fresh] = topics_.try_emplace(key);
    if (fresh) it->second.layout = layout_;
    Bring(it->second);
    return it->second;
  }
  void Bring(Topic& topic) const {
    if (topic.layout != layout_) topic = Brought(topic);
  }
  // As the peers are now; nothing may be left.
  Topic Brought(const Topic& topic) const {
    const Moved& moved = moved_.at(topic.layout);
    const size_t peers = unsent_.size();
    Topic now;
    now.layout = layout_;
    now.cells.assign(peers, 0);
    std::vector<uint32_t> cells(peers);
    for (size_t r = 0; r < topic.rows.size(); ++r) {
      uint32_t left = 0;
      for (size_t peer = 0; peer < peers; ++peer) {
        const size_t from = moved.from[peer];
        cells[peer] = from == kNobody ? kKnown : topic.cells[(r + 1) * moved.peers + from];
        left += cells[peer] != kKnown;
      }
      if (left == 0) continue;
      for (size_t peer = 0; peer < peers; ++peer) now.cells[peer] += cells[peer] == kWaits;
      now.rows.push_back({topic.rows[r].piece, left});
      now.cells.insert(now.cells.end(), cells.begin(), cells.end());
    }
    return now;
  }

  uint32_t At(const Topic& topic, size_t row, size_t peer) const {
    return topic.cells[(row + 1) * unsent_.size() + peer];
  }
  void Set(Topic& topic, size_t row, size_t peer, uint32_t value) {
    uint32_t& cell = topic.cells[(row + 1) * unsent_.size() + peer];
    if (cell == value) return;
    topic.rows[row].left += uint32_t{cell == kKnown} - uint32_t{value == kKnown};
    const uint32_t more = uint32_t{value == kWaits} - uint32_t{cell == kWaits};  // 1, 0 or -1
    topic.cells[peer] += more;
    unsent_[peer] += static_cast<size_t>(static_cast<int32_t>(more));
    cell = value;
  }

  // The first row that is not before the piece; `guess` is looked at first.
  static size_t Place(const Topic& topic, const Piece& piece, size_t guess) {
    if (guess < topic.rows.size() && topic.rows[guess].piece == piece) return guess;
    const auto at =
        std::lower_bound(topic.rows.begin(), topic.rows.end(), piece,
                         [](const Row& row, const Piece& wanted) { return row.piece < wanted; });
    return static_cast<size_t>(at - topic.rows.begin());
  }
  // Its row, which is made if there is none.
  size_t RowOf(Topic& topic, const Piece& piece, size_t guess) {
    const size_t row = Place(topic, piece, guess);
    if (row < topic.rows.size() && topic.rows[row].piece == piece) return row;
    const size_t peers = unsent_.size();
    if (topic.cells.empty()) topic.cells.assign(peers, 0);
    topic.rows.insert(topic.rows.begin() + static_cast<ptrdiff_t>(row), Row{piece});
    topic.cells.insert(topic.cells.begin() + static_cast<ptrdiff_t>((row + 1) * peers), peers,
                       kKnown);
    return row;
  }
  template <typename Do>
  static void ForEach(const Topic& topic, std::span<const Piece> pieces, Do act) {
    auto piece = pieces.begin();
    for (size_t row = 0; row < topic.rows.size() && piece != pieces.end(); ++row) {
      while (piece != pieces.end() && *piece < topic.rows[row].piece) ++piece;
      if (piece != pieces.end() && *piece == topic.rows[row].piece) act(row);
    }
  }

  // Removes the rows that everybody knows.
  void Compact(const Key& key) {
    const auto it = topics_.find(key);
    auto& [rows, cells, layout] = it->second;
    const size_t peers = unsent_.size();
    size_t kept = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
      if (rows[row].left == 0) continue;
      if (kept < row) {
        rows[kept] = rows[row];
        std::copy_n(cells.begin() + static_cast<ptrdiff_t>((row + 1) * peers), peers,
                    cells.begin() + static_cast<ptrdiff_t>((kept + 1) * peers));
      }
      ++kept;
    }
    if (kept == 0) return topics_.erase(it);
    if (kept == rows.size()) return;
    rows.resize(kept);
    cells.resize((kept + 1) * peers);
    if (rows.size() * 4 > rows.capacity()) return;
    rows.shrink_to_fit();
    cells.shrink_to_fit();
  }

  KeyMap<Topic> topics_;
  std::vector<size_t> unsent_;  // by peer
  uint32_t layout_ = 0;
  std::map<uint32_t, Moved> moved_;  // layouts before this one that there may be tables of
  size_t untidy_ = 0;                // tables before this place may be
};

}  // namespace weir

#include "replication/debt_replica.h"

#include <algorithm>

namespace weir {
namespace {

constexpr size_t kMostMissing = 16;  // gaps that are told at a time
constexpr size_t kMostBeyond = 256;  // envelopes that are remembered behind a gap
constexpr size_t kRowBytes = 64;     // of a row in an envelope, at most
constexpr uint64_t kMostCharged = uint64_t{1} << 60;
constexpr uint64_t kMostMicros = uint64_t{1} << 53;

uint64_t Micros(Duration duration) {
  return static_cast<uint64_t>(std::max<int64_t>(0, duration.count() / 1000));
}

}  // namespace

DebtReplica::DebtReplica(Origin self, const DebtOptions& options, Instant now)
    : self_(self), options_(options), next_heartbeat_(After(now, options.heartbeat)) {}

void DebtReplica::SetPeers(std::vector<uint32_t> peers) {
  std::erase_if(peers_, [&](const auto& one) {
    if (std::find(peers.begin(), peers.end(), one.first) != peers.end()) return false;
    numbers_ = std::max(numbers_, one.second.sent);
    return true;
  });
  for (const uint32_t peer : peers) {
    if (peer == self_.node) continue;
    const auto [place, is_new] = peers_.try_emplace(peer);
    if (is_new) place->second.sent = numbers_;
  }
}

// ---- Decisions ----

DebtReplica::Subject& DebtReplica::Limited(const Key& key, const SharedBucket& limit) {
  Subject& subject = subjects_[key];
  if (subject.limited && subject.limit == limit) return subject;
  subject.limit = limit;
  subject.ticks = Ticks(limit);
  subject.limited = true;
  subject.rows.Refold();
  return subject;
}

bool DebtReplica::Admit(const Key& key, const SharedBucket& limit, uint64_t cost, Instant now) {
  if (Ticks(limit).Of(cost) > Level(key, limit, now)) return false;
  Take(key, limit, cost, now);
  return true;
}

void DebtReplica::Take(const Key& key, const SharedBucket& limit, uint64_t cost, Instant now) {
  if (cost == 0) return;
  Subject& subject = Limited(key, limit);
  NoteChange(key, subject, subject.rows.Charge(subject.ticks, self_, cost, now, segments_), cost,
             now);
}

int128 DebtReplica::Level(const Key& key, const SharedBucket& limit, Instant now) {
  if (!subjects_.contains(key)) return Ticks(limit).Of(limit.capacity);
  Subject& subject = Limited(key, limit);
  return subject.ticks.Of(limit.capacity) - subject.rows.Debt(subject.ticks, now);
}

// When everybody has heard of all, and nothing of it counts any more.
Instant DebtReplica::ForgetAt(Subject& subject, Instant now) const {
  if (subject.limit.limit == 0) return After(now, subject.limit.per);
  return After(subject.rows.ZeroAt(subject.ticks, now), options_.grace);
}

void DebtReplica::Refund(const Key& key, uint64_t cost, Instant now) {
  const auto found = subjects_.find(key);
  if (found == subjects_.end()) return;
  std::vector<uint64_t> segments;
  found->second.rows.Refund(self_, cost, segments);
  for (const uint64_t segment : segments) NoteChange(key, found->second, segment, 0, now);
}

void DebtReplica::NoteChange(const Key& key, Subject& subject, uint64_t segment, uint64_t tokens,
                             Instant now) {
  const bool is_new = subject.forget_at == Instant{};
  subject.forget_at = std::max(subject.forget_at, ForgetAt(subject, now));
  if (is_new) forgetting_.emplace(subject.forget_at, key);
  if (peers_.empty()) return;
  if (std::find(subject.changed.begin(), subject.changed.end(), segment) == subject.changed.end()) {
    subject.changed.push_back(segment);
  }
  subject.untold += tokens;
  TellIfUrgent(key, subject, now);
  if (subject.urgent || subject.waits_to_tell) return;
  subject.waits_to_tell = true;
  untold_.push_back(key);
  if (tell_at_ == kEndOfTime) tell_at_ = After(now, options_.patience);
}

void DebtReplica::TellIfUrgent(const Key& key, Subject& subject, Instant now) {
  if (subject.urgent || subject.untold == 0) return;
  const int128 full = subject.ticks.Of(subject.limit.capacity);
  const uint64_t room = subject.ticks.Tokens(full - subject.rows.Debt(subject.ticks, now));
  const uint64_t nodes = peers_.size() + 1;
  if (subject.untold < std::max<uint64_t>(1, room / (2 * nodes))) return;
  subject.urgent = true;
  urgent_.push_back(key);
}

// ---- Telling ----

void DebtReplica::TellPeers(const Key& key, Subject& subject) {
  for (auto& [node, peer] : peers_) {
    for (const uint64_t segment : subject.changed) peer.owed[{key, segment}] = 0;
  }
  subject.changed.clear();
  subject.untold = 0;
  subject.urgent = false;
}

std::vector<Envelope> DebtReplica::Tick(Instant now) {
  std::vector<Envelope> out;
  bool told = !urgent_.empty();
  for (const Key& key : urgent_) {
    const auto found = subjects_.find(key);
    if (found != subjects_.end()) TellPeers(key, found->second);
  }
  urgent_.clear();
  if (tell_at_ <= now) {
    for (const Key& key : untold_) {
      const auto found = subjects_.find(key);
      if (found == subjects_.end()) continue;
      found->second.waits_to_tell = false;
      if (found->second.changed.empty()) continue;
      TellPeers(found->first, found->second);
      told = true;
    }
    untold_.clear();
    tell_at_ = kEndOfTime;
  }
  for (auto& [node, peer] : peers_) {
    const bool gap = After(peer.gap_since, options_.gap_patience) <= now;
    if (gap) peer.gap_since = After(now, options_.heartbeat);  // asked for; again later
    if (told || gap) SendOwed(node, peer, gap, now, out);
  }
  if (next_heartbeat_ <= now) HeartBeat(now, out);
  Forget(now);
  return out;
}

// One peer after the other: what has come from it, and what it has not confirmed.
void DebtReplica::HeartBeat(Instant now, std::vector<Envelope>& out) {
  next_heartbeat_ = After(now, options_.heartbeat);
  if (peers_.empty()) return;
  const auto round = static_cast<int64_t>(peers_.size()) * options_.heartbeat;
  for (size_t i = 0; i < peers_.size(); ++i) {
    auto next = peers_.upper_bound(last_greeted_);
    if (next == peers_.end()) next = peers_.begin();
    last_greeted_ = next->first;
    Peer& peer = next->second;
    bool again = std::any_of(peer.owed.begin(), peer.owed.end(),
                             [](const auto& one) { return one.second == 0; });
    for (const Sent& sent : peer.outstanding) {
      // It has been greeted since, and had the time to say that it came.
      if (now - sent.at < 2 * round) break;
      for (const RowName& row : sent.rows) {
        const auto owed = peer.owed.find(row);
        if (owed == peer.owed.end() || owed->second != sent.sequence) continue;
        owed->second = 0;
        again = true;
      }
    }
    while (!peer.outstanding.empty() && now - peer.outstanding.front().at >= 2 * round) {
      peer.outstanding.pop_front();
    }
    if (!again && !peer.owes_ack) continue;
    SendOwed(next->first, peer, true, now, out);
    return;
  }
}

void DebtReplica::WriteRow(const Key& key, const DebtRows::Row& row, Instant now,
                           EnvelopeWriter& out) {
  Subject& subject = subjects_.at(key);
  out.Name(key);
  if (row.origin == self_) {
    out.Number(0);
  } else {
    out.Number(uint64_t{row.origin.node} + 1);
    out.Number(row.origin.incarnation);
  }
  out.Number(row.segment);
  out.Number(Micros(now - row.epoch));
  out.Number(row.charged);
  out.Number(row.refunded);
  out.Number(Micros(subject.forget_at - now) / 1000);
}

// The head, from where on the peer has to wait for what it has not got, and what has come from it.
EnvelopeWriter DebtReplica::Begin(const Peer& peer, uint64_t sequence) const {
  EnvelopeWriter writer({ReplicaKind::kDebt, self_, sequence});
  const uint64_t first = peer.outstanding.empty() ? sequence : peer.outstanding.front().sequence;
  writer.Number(sequence - first);
  writer.Number(peer.incarnation);
  writer.Number(peer.received);
  std::vector<uint64_t> missing;
  if (!peer.received_beyond.empty()) {
    for (uint64_t one = peer.received + 1;
         one < *peer.received_beyond.rbegin() && missing.size() < kMostMissing; ++one) {
      if (!peer.received_beyond.contains(one)) missing.push_back(one - peer.received);
    }
  }
  writer.Number(missing.size());
  for (const uint64_t one : missing) writer.Number(one);
  return writer;
}

void DebtReplica::SendOwed(uint32_t to, Peer& peer, bool even_if_empty, Instant now,
                           std::vector<Envelope>& out) {
  std::vector<RowName> rows;
  for (const auto& [name, sequence] : peer.owed) {
    if (sequence == 0) rows.push_back(name);
  }
  size_t next = 0;
  do {
    Sent sent{peer.sent + 1, now, {}};
    EnvelopeWriter writer = Begin(peer, sent.sequence);
    for (; next < rows.size() && writer.size() + kRowBytes < kMostEnvelopeBytes; ++next) {
      const auto subject = subjects_.find(rows[next].key);
      const DebtRows::Row* row = subject == subjects_.end()
                                     ? nullptr
                                     : subject->second.rows.Find(self_, rows[next].segment);
      if (row == nullptr) {
        peer.owed.erase(rows[next]);  // forgotten everywhere
        continue;
      }
      WriteRow(rows[next].key, *row, now, writer);
      peer.owed[rows[next]] = sent.sequence;
      sent.rows.push_back(rows[next]);
    }
    if (sent.rows.empty() && !even_if_empty) return;
    even_if_empty = false;
    peer.owes_ack = false;
    peer.sent = sent.sequence;
    if (!sent.rows.empty()) peer.outstanding.push_back(std::move(sent));
    out.push_back({to, writer.Take()});
  } while (next < rows.size());
}

std::vector<Envelope> DebtReplica::Everything(uint32_t to, Instant now) {
  std::vector<Envelope> out;
  const auto found = peers_.find(to);
  if (found == peers_.end()) return out;
  std::vector<std::pair<Key, DebtRows::Row>> rows;
  for (const auto& [key, subject] : subjects_) {
    for (const DebtRows::Row& row : subject.rows.rows()) rows.emplace_back(key, row);
  }
  for (size_t next = 0; next < rows.size();) {
    EnvelopeWriter writer = Begin(found->second, ++found->second.sent);
    for (; next < rows.size() && writer.size() + kRowBytes < kMostEnvelopeBytes; ++next) {
      WriteRow(rows[next].first, rows[next].second, now, writer);
    }
    out.push_back({to, writer.Take()});
  }
  return out;
}

// ---- Hearing ----

std::vector<Envelope> DebtReplica::Receive(std::string_view bytes, Instant now, bool& good) {
  EnvelopeReader reader(bytes);
  const EnvelopeHead head = reader.head();
  const uint64_t first = head.sequence - reader.NumberBelow(head.sequence + 1);
  const uint64_t my_incarnation = reader.NumberBelow(uint64_t{1} << 32);
  const uint64_t received = reader.Number();
  std::vector<uint64_t> missing(reader.NumberBelow(kMostMissing + 1));
  for (uint64_t& one : missing) one = received + reader.Number();
  std::vector<Entry> entries;
  while (reader.ok() && reader.left() > 0) {
    Entry& entry = entries.emplace_back();
    entry.key = reader.Name();
    const uint64_t node = reader.NumberBelow((uint64_t{1} << 32) + 1);
    entry.row.origin = head.sender;
    if (node > 0) {
      entry.row.origin.node = static_cast<uint32_t>(node - 1);
      entry.row.origin.incarnation = static_cast<uint32_t>(reader.NumberBelow(uint64_t{1} << 32));
    }
    entry.row.segment = reader.Number();
    entry.row.epoch = After(now, -std::chrono::microseconds(reader.NumberBelow(kMostMicros)));
    entry.row.charged = reader.NumberBelow(kMostCharged);
    entry.row.refunded = reader.NumberBelow(entry.row.charged + 1);
    entry.keep = std::chrono::milliseconds(reader.NumberBelow(kMostMicros / 1000));
  }
  const auto found = peers_.find(head.sender.node);
  good = reader.done() && head.kind == ReplicaKind::kDebt && found != peers_.end();
  if (!good) return {};
  NoteReceived(found->second, head, first, now);
  if (my_incarnation == self_.incarnation) TakeAcks(found->second, received, missing);
  if (!entries.empty()) found->second.owes_ack = true;
  for (const Entry& entry : entries) MergeRow(entry, now);
  std::vector<Envelope> out;
  if (!missing.empty()) SendOwed(head.sender.node, found->second, false, now, out);
  return out;
}

void DebtReplica::MergeRow(const Entry& entry, Instant now) {
  if (entry.row.origin == self_) return;  // nobody knows it better
  Subject& subject = subjects_[entry.key];
  const bool is_new = subject.forget_at == Instant{};
  subject.rows.Merge(entry.row);
  subject.forget_at =
      std::max(subject.forget_at,
               std::min(After(now, entry.keep), After(now, std::chrono::hours(24 * 400))));
  if (subject.limited) {
    subject.forget_at = std::max(subject.forget_at, ForgetAt(subject, now));
    TellIfUrgent(entry.key, subject, now);  // there may be less room than there was
  }
  if (is_new) forgetting_.emplace(subject.forget_at, entry.key);
}

void DebtReplica::NoteReceived(Peer& peer, const EnvelopeHead& head, uint64_t first, Instant now) {
  if (head.sender.incarnation > peer.incarnation) {  // it has begun anew
    peer.incarnation = head.sender.incarnation;
    peer.received = 0;
    peer.received_beyond.clear();
    peer.gap_since = kEndOfTime;
    for (auto& [row, sequence] : peer.owed) sequence = 0;
  }
  if (head.sender.incarnation < peer.incarnation) return;
  if (head.sequence > peer.received) peer.received_beyond.insert(head.sequence);
  if (peer.received_beyond.size() > kMostBeyond) peer.received = *peer.received_beyond.begin() - 1;
  if (first > 0) peer.received = std::max(peer.received, first - 1);
  peer.received_beyond.erase(peer.received_beyond.begin(),
                             peer.received_beyond.upper_bound(peer.received));
  while (!peer.received_beyond.empty() && *peer.received_beyond.begin() == peer.received + 1) {
    peer.received += 1;
    peer.received_beyond.erase(peer.received_beyond.begin());
  }
  if (peer.received_beyond.empty()) {
    peer.gap_since = kEndOfTime;
  } else if (peer.gap_since == kEndOfTime) {
    peer.gap_since = now;
  }
}

void DebtReplica::TakeAcks(Peer& peer, uint64_t received, const std::vector<uint64_t>& missing) {
  while (!peer.outstanding.empty() && peer.outstanding.front().sequence <= received) {
    for (const RowName& row : peer.outstanding.front().rows) {
      const auto owed = peer.owed.find(row);
      if (owed != peer.owed.end() && owed->second == peer.outstanding.front().sequence) {
        peer.owed.erase(owed);
      }
    }
    peer.outstanding.pop_front();
  }
  // What did not come goes again, in an envelope with another number.
  std::erase_if(peer.outstanding, [&](const Sent& sent) {
    if (std::find(missing.begin(), missing.end(), sent.sequence) == missing.end()) return false;
    for (const RowName& row : sent.rows) {
      const auto owed = peer.owed.find(row);
      if (owed != peer.owed.end() && owed->second == sent.sequence) owed->second = 0;
    }
    return true;
  });
}

// ---- Forgetting ----

void DebtReplica::Forget(Instant now) {
  while (!forgetting_.empty() && forgetting_.top().first <= now) {
    const Key key = forgetting_.top().second;
    forgetting_.pop();
    const auto found = subjects_.find(key);
    if (found == subjects_.end()) continue;
    Subject& subject = found->second;
    const bool over = subject.forget_at <= now && subject.changed.empty();
    if (over) {
      subjects_.erase(found);
      continue;
    }
    if (subject.limited) {
      subject.rows.DropEnded(subject.ticks, After(now, -options_.grace), now);
    }
    forgetting_.emplace(std::max(subject.forget_at, After(now, options_.grace)), key);
  }
}

Instant DebtReplica::NextTick() const {
  if (!urgent_.empty()) return Instant::min();
  Instant next = next_heartbeat_;
  next = std::min(next, tell_at_);
  for (const auto& [node, peer] : peers_) {
    if (peer.gap_since != kEndOfTime) {
      next = std::min(next, After(peer.gap_since, options_.gap_patience));
    }
  }
  return next;
}

uint64_t DebtReplica::Remaining(const Key& key, const SharedBucket& limit, Instant now) {
  return Ticks(limit).Tokens(Level(key, limit, now));
}

const DebtRows* DebtReplica::Find(const Key& key) const {
  const auto found = subjects_.find(key);
  return found == subjects_.end() ? nullptr : &found->second.rows;
}

size_t DebtReplica::bytes() const {
  constexpr size_t kNode = 48;  // of a tree, beside what it holds
  size_t bytes = subjects_.size() * (sizeof(Key) + sizeof(Subject) + 1);
  for (const auto& [key, subject] : subjects_) {
    bytes += subject.rows.heap_bytes() + subject.changed.capacity() * sizeof(uint64_t);
  }
  for (const auto& [node, peer] : peers_) {
    bytes += sizeof(Peer) + kNode;
    bytes += peer.owed.size() * (sizeof(RowName) + sizeof(uint64_t) + kNode);
    for (const Sent& sent : peer.outstanding) {
      bytes += sizeof(Sent) + sent.rows.capacity() * sizeof(RowName);
    }
  }
  bytes += untold_.capacity() * sizeof(Key) + forgetting_.size() * sizeof(Due);
  return bytes;
}

}  // namespace weir

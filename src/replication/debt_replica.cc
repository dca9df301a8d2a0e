#include "replication/debt_replica.h"

#include <algorithm>

namespace weir {
namespace {

constexpr size_t kRowBytes = 72;  // of a row in an envelope, at most
constexpr uint64_t kMostCharged = uint64_t{1} << 60;
constexpr uint64_t kMostAge = uint64_t{1} << 50;
constexpr uint64_t kMostSeconds = uint64_t{1} << 25;  // about a year
constexpr uint64_t kEnd32 = uint64_t{1} << 32;

// Ages travel in tenths of milliseconds, rounded down: no row seems older than it is.
constexpr Duration kAge = std::chrono::microseconds(100);

// What a row in an envelope has beside the usual.
constexpr uint64_t kOfOther = 1, kRefunded = 2, kOfWindow = 4;

uint64_t NotNegative(int64_t n) { return static_cast<uint64_t>(std::max<int64_t>(0, n)); }

uint64_t Zigzag(int64_t n) {
  return (static_cast<uint64_t>(n) << 1) ^ static_cast<uint64_t>(n >> 63);
}
int64_t Unzigzag(uint64_t n) { return static_cast<int64_t>(n >> 1) ^ -static_cast<int64_t>(n & 1); }

}  // namespace

DebtReplica::DebtReplica(Origin self, const DebtOptions& options, Instant)
    : self_(self), options_(options) {}

void DebtReplica::SetPeers(std::vector<uint32_t> peers) {
  std::erase_if(peers_, [&](const auto& one) {
    return std::find(peers.begin(), peers.end(), one.first) == peers.end();
  });
  for (const uint32_t peer : peers) {
    if (peer != self_.node) peers_.try_emplace(peer);
  }
  if (!subjects_.empty() && !peers_.empty()) next_heartbeat_ = Instant::min();
}

// ---- Decisions ----

DebtReplica::Subject* DebtReplica::Limited(const StateName& name, const SharedBucket& limit) {
  auto found = subjects_.find(name);
  if (found == subjects_.end()) {
    if (subjects_.size() >= options_.most_subjects) {
      turned_away_ += 1;
      return nullptr;
    }
    found = subjects_.try_emplace(name).first;
  }
  Subject& subject = found->second;
  if (subject.limited && subject.limit == limit) return &subject;
  subject.limit = limit;
  subject.ticks = Ticks(limit);
  subject.limited = true;
  subject.rows.Refold();
  return &subject;
}

bool DebtReplica::Admit(const Key& key, const SharedBucket& limit, uint64_t cost, Instant now) {
  if (Ticks(limit).Of(cost) > Level(key, limit, now)) return false;
  Take(key, limit, cost, now);
  return true;
}

void DebtReplica::Take(const Key& key, const SharedBucket& limit, uint64_t cost, Instant now) {
  if (cost == 0) return;
  const StateName name{key, limit.window};
  Subject* subject = Limited(name, limit);
  if (subject == nullptr) return;
  const uint64_t segment = subject->rows.Charge(subject->ticks, self_, cost, now, segments_);
  NoteChange(name, *subject, segment, cost, now);
}

void DebtReplica::Refund(const StateName& name, uint64_t cost, Instant now) {
  const auto found = subjects_.find(name);
  if (found == subjects_.end()) return;
  std::vector<uint64_t> segments;
  found->second.rows.Refund(self_, cost, segments);
  for (const uint64_t segment : segments) NoteChange(name, found->second, segment, 0, now);
}

int128 DebtReplica::Level(const Key& key, const SharedBucket& limit, Instant now) {
  const StateName name{key, limit.window};
  if (!subjects_.contains(name)) return Ticks(limit).Of(limit.capacity);
  Subject& subject = *Limited(name, limit);
  return subject.ticks.Of(limit.capacity) - subject.rows.Debt(subject.ticks, now);
}

uint64_t DebtReplica::Remaining(const Key& key, const SharedBucket& limit, Instant now) {
  return Ticks(limit).Tokens(Level(key, limit, now));
}

// When everybody has heard of all, and nothing of it counts any more.
Instant DebtReplica::ForgetAt(Subject& subject, Instant now) const {
  if (subject.limit.limit == 0) return After(now, subject.limit.per);
  return After(subject.rows.ZeroAt(subject.ticks, now), options_.grace);
}

void DebtReplica::NoteChange(const StateName& name, Subject& subject, uint64_t segment,
                             uint64_t tokens, Instant now) {
  const bool is_new = subject.forget_at == Instant{};
  subject.forget_at = std::max(subject.forget_at, ForgetAt(subject, now));
  if (is_new) forgetting_.emplace(subject.forget_at, name);
  if (std::find(subject.changed.begin(), subject.changed.end(), segment) == subject.changed.end()) {
    subject.changed.push_back(segment);
  }
  subject.untold += tokens;
  TellIfUrgent(name, subject, now);
  if (subject.urgent || subject.waits_to_tell) return;
  subject.waits_to_tell = true;
  untold_.push_back(name);
  if (tell_at_ == kEndOfTime) tell_at_ = After(now, options_.patience);
}

void DebtReplica::TellIfUrgent(const StateName& name, Subject& subject, Instant now) {
  if (subject.urgent || subject.untold == 0 || peers_.empty()) return;
  const int128 full = subject.ticks.Of(subject.limit.capacity);
  const uint64_t room = subject.ticks.Tokens(full - subject.rows.Debt(subject.ticks, now));
  const uint64_t nodes = peers_.size() + 1;
  if (uint128{subject.untold} * nodes < uint128{room} + subject.untold) return;
  subject.urgent = true;
  urgent_.push_back(name);
}

// ---- The list ----

void DebtReplica::PutOnList(const StateName& name) {
  const auto found = subjects_.find(name);
  if (found == subjects_.end()) return;
  Subject& subject = found->second;
  for (const uint64_t segment : subject.changed) {
    const auto [place, fresh] = place_of_segment_.try_emplace(segment, ++last_told_);
    if (!fresh) {
      list_.erase(place->second);
      place->second = last_told_;
    }
    list_.emplace_hint(list_.end(), last_told_, OwnRow{name, segment});
  }
  subject.changed.clear();
  subject.changed.shrink_to_fit();
  subject.untold = 0;
  subject.urgent = false;
}

void DebtReplica::TakeOffList(const DebtRows::Row& row) {
  if (row.origin != self_) return;
  const auto place = place_of_segment_.find(row.segment);
  if (place == place_of_segment_.end()) return;
  list_.erase(place->second);
  place_of_segment_.erase(place);
}

// True if there is anything to be told.
bool DebtReplica::ListTheUntold(Instant now) {
  const uint64_t before = last_told_;
  pushes_ += urgent_.size();
  for (const StateName& name : urgent_) PutOnList(name);
  urgent_.clear();
  if (tell_at_ <= now) {
    for (const StateName& name : untold_) {
      const auto found = subjects_.find(name);
      if (found != subjects_.end()) found->second.waits_to_tell = false;
      PutOnList(name);
    }
    untold_.clear();
    tell_at_ = kEndOfTime;
  }
  return last_told_ != before;
}

// ---- Telling ----

std::vector<Envelope> DebtReplica::Tick(Instant now) {
  std::vector<Envelope> out;
  if (ListTheUntold(now)) {
    for (auto& [node, peer] : peers_) Write(node, peer, now, out);
  }
  if (next_gap_ <= now) {
    next_gap_ = kEndOfTime;
    for (auto& [node, peer] : peers_) {
      if (peer.gap_since == kEndOfTime) continue;
      if (After(peer.gap_since, options_.gap_patience) <= now) {
        Write(node, peer, now, out);
        peer.gap_since = After(now, options_.heartbeat);  // asked for; again later
      }
      next_gap_ = std::min(next_gap_, After(peer.gap_since, options_.gap_patience));
    }
  }
  if (next_heartbeat_ <= now) HeartBeat(now, out);
  Forget(now);
  return out;
}

std::vector<Envelope> DebtReplica::Farewell(Instant now) {
  if (!untold_.empty()) tell_at_ = now;
  return Tick(now);
}

// One peer after the other: what has come from it, and what it has not confirmed.
void DebtReplica::HeartBeat(Instant now, std::vector<Envelope>& out) {
  const auto round = static_cast<int64_t>(peers_.size()) * options_.heartbeat;
  const size_t before = out.size();
  bool more = false;
  for (size_t i = 0; i < peers_.size(); ++i) {
    auto next = peers_.upper_bound(last_greeted_);
    if (next == peers_.end()) next = peers_.begin();
    auto& [node, peer] = *next;
    // It has been greeted since, and had the time to say that it came.
    const bool again = peer.unconfirmed_since < now && now - peer.unconfirmed_since >= 2 * round;
    const bool wants = again || peer.owes_word || peer.sent < last_told_ ||
                       (peer.wants_orphans && !subjects_.empty());
    if (wants && out.size() > before) {
      more = true;
      break;
    }
    last_greeted_ = node;
    more = more || peer.confirmed < peer.sent;
    if (!wants) continue;
    if (again) peer.sent = peer.confirmed;
    if (peer.wants_orphans) WriteOrphans(node, peer, false, now, out);
    Write(node, peer, now, out);
    more = true;
  }
  next_heartbeat_ = more ? After(now, options_.heartbeat) : kEndOfTime;
}

// What is new on the list; if there is nothing, just what has come from the peer.
void DebtReplica::Write(uint32_t to, Peer& peer, Instant now, std::vector<Envelope>& out) {
  if (peer.sent < last_told_) {
    WriteNew(to, peer, now, out);
  } else {
    out.push_back({to, Head(peer, peer.sent, peer.sent)});
  }
  peer.owes_word = false;
}

void DebtReplica::WriteNew(uint32_t to, Peer& peer, Instant now, std::vector<Envelope>& out) {
  for (auto next = list_.upper_bound(peer.sent); peer.sent < last_told_;) {
    EnvelopeWriter rows{EnvelopeHead{}};
    const size_t blank = rows.size();
    uint64_t end = last_told_;
    for (; next != list_.end(); ++next) {
      if (rows.size() + 2 * kRowBytes > kMostEnvelopeBytes) {
        end = std::prev(next)->first;
        break;
      }
      const OwnRow& own = next->second;
      WriteRow(own.name, *subjects_.at(own.name).rows.Find(self_, own.segment), now, rows);
    }
    out.push_back({to, Head(peer, peer.sent, end) + rows.Take().substr(blank)});
    peer.sent = end;
  }
  if (peer.unconfirmed_since == kEndOfTime) peer.unconfirmed_since = now;
  if (next_heartbeat_ == kEndOfTime) next_heartbeat_ = After(now, options_.heartbeat);
}

// Rows of nodes that are no peers, or were the peer's own in an earlier life.
void DebtReplica::WriteOrphans(uint32_t to, Peer& peer, bool all, Instant now,
                               std::vector<Envelope>& out) {
  peer.wants_orphans = false;
  EnvelopeWriter rows{EnvelopeHead{}};
  const size_t blank = rows.size();
  const auto close = [&] {
    if (rows.size() == blank) return;
    out.push_back({to, Head(peer, peer.sent, peer.sent) + rows.Take().substr(blank)});
    rows = EnvelopeWriter{EnvelopeHead{}};
  };
  for (const auto& [name, subject] : subjects_) {
    for (const DebtRows::Row& row : subject.rows.rows()) {
      const bool own = row.origin == self_;
      const bool orphan = row.origin.node == to || (!own && !peers_.contains(row.origin.node));
      if (!all && !orphan) continue;
      if (rows.size() + 2 * kRowBytes > kMostEnvelopeBytes) close();
      WriteRow(name, row, now, rows);
    }
  }
  close();
}

std::vector<Envelope> DebtReplica::Everything(uint32_t to, Instant now) {
  std::vector<Envelope> out;
  const auto found = peers_.find(to);
  if (found != peers_.end()) WriteOrphans(to, found->second, true, now, out);
  return out;
}

// Head, the stretch of the list, and what has come from the peer.
std::string DebtReplica::Head(const Peer& peer, uint64_t from, uint64_t end) const {
  EnvelopeWriter writer({ReplicaKind::kDebt, self_, end});
  writer.Number(end - from);
  writer.Number(peer.incarnation);
  writer.Number(peer.have * 2 + (peer.gap_since != kEndOfTime));
  return writer.Take();
}

void DebtReplica::WriteRow(const StateName& name, const DebtRows::Row& row, Instant now,
                           EnvelopeWriter& out) {
  const Subject& subject = subjects_.at(name);
  out.Name(name.key);
  out.Number((row.origin == self_ ? 0 : kOfOther) | (row.refunded > 0 ? kRefunded : 0) |
             (name.window != 0 ? kOfWindow : 0));
  if (row.origin != self_) {
    out.Number(row.origin.node);
    out.Number(row.origin.incarnation);
  }
  if (name.window != 0) out.Number(Zigzag(name.window));
  out.Number(row.segment);
  out.Number(NotNegative((now - row.epoch) / kAge));
  out.Number(row.charged);
  if (row.refunded > 0) out.Number(row.refunded);
  if (name.window != 0) {
    const auto keep = std::chrono::ceil<std::chrono::seconds>(subject.forget_at - now);
    out.Number(std::min(NotNegative(keep.count()), kMostSeconds - 1));
  } else {
    const int128 spacing =
        CeilDiv(subject.limit.per.count(), std::max<uint64_t>(1, subject.limit.limit));
    out.Number(static_cast<uint64_t>(CeilDiv(spacing, 1000)));
  }
}

// ---- Hearing ----

std::vector<DebtReplica::Entry> DebtReplica::ReadRows(EnvelopeReader& reader, Instant now) {
  std::vector<Entry> entries;
  while (reader.ok() && reader.left() > 0) {
    Entry& entry = entries.emplace_back();
    entry.name.key = reader.Name();
    const uint64_t flags = reader.NumberBelow(8);
    entry.row.origin = reader.head().sender;
    if (flags & kOfOther) {
      entry.row.origin.node = static_cast<uint32_t>(reader.NumberBelow(kEnd32));
      entry.row.origin.incarnation = static_cast<uint32_t>(reader.NumberBelow(kEnd32));
    }
    if (flags & kOfWindow) entry.name.window = Unzigzag(reader.Number());
    entry.row.segment = reader.Number();
    entry.row.epoch = After(now, -static_cast<int64_t>(reader.NumberBelow(kMostAge)) * kAge);
    entry.row.charged = reader.NumberBelow(kMostCharged);
    if (flags & kRefunded) entry.row.refunded = reader.NumberBelow(entry.row.charged + 1);
    if (flags & kOfWindow) {
      entry.keep = std::chrono::seconds(reader.NumberBelow(kMostSeconds));
    } else {
      entry.spacing =
          std::chrono::microseconds(std::max<uint64_t>(1, reader.NumberBelow(kMostAge)));
    }
  }
  return entries;
}

std::vector<Envelope> DebtReplica::Receive(std::string_view bytes, Instant now, bool& good) {
  EnvelopeReader reader(bytes);
  const EnvelopeHead head = reader.head();
  const uint64_t from = head.sequence - reader.NumberBelow(head.sequence + 1);
  const uint64_t my_incarnation = reader.NumberBelow(kEnd32);
  const uint64_t have = reader.Number();
  const std::vector<Entry> entries = ReadRows(reader, now);
  const auto found = peers_.find(head.sender.node);
  good = reader.done() && head.kind == ReplicaKind::kDebt && found != peers_.end();
  if (!good) return {};
  Peer& peer = found->second;
  for (const Entry& entry : entries) MergeRow(entry, now);
  if (head.sender.incarnation < peer.incarnation) return {};  // from the grave; its rows count
  NoteHeard(peer, head, from, !entries.empty(), now);
  if (my_incarnation != self_.incarnation) return {};
  NoteConfirmed(peer, have / 2, have % 2 == 1, now);
  std::vector<Envelope> out;
  if (peer.sent < last_told_) Write(head.sender.node, peer, now, out);
  return out;
}

void DebtReplica::NoteHeard(Peer& peer, const EnvelopeHead& head, uint64_t from, bool rows,
                            Instant now) {
  if (head.sender.incarnation > peer.incarnation) {  // it has begun anew
    peer = Peer{.incarnation = head.sender.incarnation};
    next_heartbeat_ = now;
  }
  if (from <= peer.have) {
    peer.have = std::max(peer.have, head.sequence);
    peer.gap_since = kEndOfTime;
  } else if (peer.gap_since == kEndOfTime) {
    peer.gap_since = now;
    next_gap_ = std::min(next_gap_, After(now, options_.gap_patience));
  }
  if (!rows) return;
  peer.owes_word = true;
  if (next_heartbeat_ == kEndOfTime) next_heartbeat_ = After(now, options_.heartbeat);
}

void DebtReplica::NoteConfirmed(Peer& peer, uint64_t have, bool gap, Instant now) {
  if (have > peer.sent) return;  // of what it heard from others, or nonsense
  if (have > peer.confirmed) {
    peer.confirmed = have;
    peer.unconfirmed_since = peer.confirmed < peer.sent ? now : kEndOfTime;
  }
  if (gap) peer.sent = peer.confirmed = have;  // it may have forgotten what it confirmed
}

void DebtReplica::MergeRow(const Entry& entry, Instant now) {
  if (entry.row.origin == self_) return;  // nobody knows it better
  auto found = subjects_.find(entry.name);
  if (found == subjects_.end()) {
    if (subjects_.size() >= options_.most_subjects) {
      turned_away_ += 1;
      return;
    }
    // Nobody has asked for it here: of the limit, only how fast debts go is known.
    found = subjects_.try_emplace(entry.name).first;
    found->second.limit.limit = entry.name.window != 0 ? 0 : 1;
    found->second.limit.per = entry.spacing;
    found->second.ticks = Ticks(found->second.limit);
  }
  Subject& subject = found->second;
  const bool report = options_.report_changes && (subject.limited || entry.name.window != 0);
  const int128 before = report ? subject.rows.Debt(subject.ticks, now) : 0;
  const bool is_new = subject.forget_at == Instant{};
  subject.rows.Merge(entry.row);
  subject.forget_at = std::max(
      subject.forget_at, entry.name.window != 0 ? After(now, entry.keep) : ForgetAt(subject, now));
  if (subject.limited) {
    TellIfUrgent(entry.name, subject, now);  // there may be less room than there was
  }
  if (is_new) forgetting_.emplace(subject.forget_at, entry.name);
  if (!report) return;
  const int128 after = subject.rows.Debt(subject.ticks, now);
  if (after == before) return;
  changes_.push_back({entry.name.key, subject.limit, before - after});
  changes_.back().limit.window = entry.name.window;
}

// ---- Forgetting ----

void DebtReplica::Forget(Instant now) {
  while (!forgetting_.empty() && forgetting_.top().first <= now) {
    const StateName name = forgetting_.top().second;
    forgetting_.pop();
    const auto found = subjects_.find(name);
    if (found == subjects_.end()) continue;
    Subject& subject = found->second;
    if (subject.forget_at <= now && subject.changed.empty()) {
      for (const DebtRows::Row& row : subject.rows.rows()) TakeOffList(row);
      subjects_.erase(found);
      continue;
    }
    if (subject.limited && subject.changed.empty()) {
      for (const DebtRows::Row& row :
           subject.rows.DropEnded(subject.ticks, After(now, -options_.grace), now)) {
        TakeOffList(row);
      }
    }
    forgetting_.emplace(std::max(subject.forget_at, After(now, options_.grace)), name);
  }
}

Instant DebtReplica::NextTick() const {
  if (!urgent_.empty()) return Instant::min();
  const Instant forget = forgetting_.empty() ? kEndOfTime : forgetting_.top().first;
  return std::min({next_heartbeat_, tell_at_, next_gap_, forget});
}

const DebtRows* DebtReplica::Find(const Key& key) const {
  const auto found = subjects_.find({key});
  return found == subjects_.end() ? nullptr : &found->second.rows;
}

size_t DebtReplica::bytes() const {
  constexpr size_t kNode = 48;  // of a tree, beside what it holds
  size_t bytes = subjects_.capacity() * (sizeof(StateName) + sizeof(Subject) + 1);
  for (const auto& [name, subject] : subjects_) {
    bytes += subject.rows.heap_bytes() + subject.changed.capacity() * sizeof(uint64_t);
  }
  bytes += peers_.size() * (sizeof(Peer) + kNode);
  bytes += list_.size() * (sizeof(OwnRow) + sizeof(uint64_t) + kNode);
  bytes += place_of_segment_.capacity() * (2 * sizeof(uint64_t) + 1);
  bytes += (untold_.capacity() + urgent_.capacity()) * sizeof(StateName);
  return bytes + forgetting_.size() * sizeof(Due);
}

}  // namespace weir

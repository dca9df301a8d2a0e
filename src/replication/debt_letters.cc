// What a DebtReplica writes, and what it makes of what it reads.
#include <algorithm>

#include "replication/debt_replica.h"

namespace weir {
namespace {

// Whoever was away has not been slow.
constexpr Duration kSlowestAnswer = std::chrono::milliseconds(200);

}  // namespace

// ---- Telling ----

std::vector<Envelope> DebtReplica::Tick(Instant now) {
  std::vector<Envelope> out;
  TurnSteps steps;
  TakeTurn(now, steps, out);
  return out;
}

void DebtReplica::TakeTurn(Instant now, TurnSteps& steps, std::vector<Envelope>& out) {
  CatchUp(steps.catch_up);
  if (next_deaf_ <= now) FindDeaf(now);
  TellForDeaf(steps.catch_up);
  TellSome(now, steps.tell, out);
  if (next_gap_ <= now) AskAboutGaps(now, steps.rest, out);
  if (next_heartbeat_ <= now) HeartBeat(now, steps.rest, out);
  Forget(now, steps.rest);
}

// A round: what there was to list when it began, then to all to whom something is due.
void DebtReplica::TellSome(Instant now, Steps& steps, std::vector<Envelope>& out) {
  if (!in_round_) BeginRound(now);
  if (!ListSome(now, steps)) return;
  if (write_now_) {
    for (Peer& peer : peers_) {
      if (!peer.due && !peer.owes_answer) continue;
      Write(peer, now, steps, out);
      if (!steps.any()) return;
    }
  }
  write_now_ = in_round_ = false;
}

Instant DebtReplica::NextTick() const {
  const bool waits = !urgent_.names.empty() || !again_.names.empty() || late_ > 0;
  if (waits || write_now_ || in_round_ || catching_up()) return Instant::min();
  const Instant forget = forgetting_.empty() ? kEndOfTime : forgetting_.top().first;
  return std::min({next_heartbeat_, tell_at_, next_gap_, next_deaf_, forget});
}

// There is no time to wait for an answer.
std::vector<Envelope> DebtReplica::Farewell(Instant now) {
  std::vector<Envelope> out;
  leaving_ = true;
  if (!untold_.names.empty()) tell_at_ = now;
  TurnSteps steps = TurnSteps::Unbounded();
  do {
    TakeTurn(now, steps, out);
  } while (in_round_ || late_ > 0 || !urgent_.names.empty() || !again_.names.empty());
  return out;
}

void DebtReplica::AskAboutGaps(Instant now, Steps& steps, std::vector<Envelope>& out) {
  next_gap_ = kEndOfTime;
  for (Peer& peer : peers_) {
    if (peer.gap_since == kEndOfTime) continue;
    if (After(peer.gap_since, options_.gap_patience) <= now && steps.any()) {
      Write(peer, now, steps, out);
      peer.gap_since = After(now, options_.heartbeat);  // asked for; again later
    }
    next_gap_ = std::min(next_gap_, After(peer.gap_since, options_.gap_patience));
  }
}

// One peer after the other: what has come from it, and what it has not confirmed.
void DebtReplica::HeartBeat(Instant now, Steps& steps, std::vector<Envelope>& out) {
  const auto round = static_cast<int64_t>(peers_.size()) * options_.heartbeat;
  const size_t before = out.size();
  bool more = false;
  for (size_t i = 0; i < peers_.size(); ++i) {
    auto next = std::upper_bound(peers_.begin(), peers_.end(), last_greeted_,
                                 [](uint32_t n, const Peer& peer) { return n < peer.node; });
    if (next == peers_.end()) next = peers_.begin();
    Peer& peer = *next;
    // It has been greeted since, and had the time to say that it came.
    const bool again = peer.unconfirmed_since < now && now - peer.unconfirmed_since >= 2 * round &&
                       !(peer.due && in_round_);
    const bool wants = again || peer.owes_word || peer.due;
    if (wants && (out.size() > before || !steps.any())) {
      more = true;
      break;
    }
    last_greeted_ = peer.node;
    more = more || peer.confirmed < peer.sent;
    if (!wants) continue;
    if (again) {
      peer.SendAgain(peer.confirmed);
      peer.due = true;
    }
    Write(peer, now, steps, out);
    more = true;
  }
  next_heartbeat_ = more ? After(now, options_.heartbeat) : kEndOfTime;
}

// What is new on the list; if there is nothing, just what has come from the peer.
void DebtReplica::Write(Peer& peer, Instant now, Steps& steps, std::vector<Envelope>& out) {
  if (!peer.due) {
    steps.Take(Steps::kOfKey);
    out.push_back({peer.node, Head(peer, peer.sent, peer.sent, false)});
  } else if (!WriteNew(peer, now, steps, out)) {
    write_now_ = true;
    return;
  }
  peer.due = peer.owes_word = peer.owes_answer = false;
}

// True: all of it was written. An envelope that is not full is left to the next turn, unless that could not
// do better.
bool DebtReplica::WriteNew(Peer& peer, Instant now, Steps& steps, std::vector<Envelope>& out) {
  DebtRowsWriter rows(self_, now);
  bool asks = false, all = true;
  bool must_send = steps.all();
  StateName last;
  const auto send = [&](uint64_t end) {
    out.push_back({peer.node, Head(peer, peer.sent, end, asks) + rows.Take()});
    peer.SendAgain(end);
    peer.owes_word = peer.owes_answer = false;
    must_send = false;
    if (peer.unconfirmed_since == kEndOfTime) peer.unconfirmed_since = now;
    if (next_heartbeat_ == kEndOfTime) next_heartbeat_ = After(now, options_.heartbeat);
    if (!asks) return;
    peer.asked = end;
    if (peer.asked_since == kEndOfTime) peer.asked_since = now;
    next_deaf_ = std::min(next_deaf_, DeafAt(peer));
    asks = false;
  };
  uint64_t before = peer.sent;
  list_.After(peer.scanned, [&](const TellingList::Entry& entry) {
    all = steps.any();
    if (!all) return false;
    steps.Take(entry.gone() ? 1 : Steps::kOfLookup);
    const bool own = entry.origin == Origin{peer.node, peer.incarnation};
    if (!entry.gone() && !own) {
      Subject& subject = subjects_.at(entry.name);
      Bring(entry.name, subject);
      if (subject.to_all || subject.home == peer.node) {
        if (entry.name != std::exchange(last, entry.name)) steps.Take(Steps::kOfKey);
        if (rows.full()) send(before);
        before = entry.number;
        const bool handed = !subject.to_all;
        asks = asks || handed;
        rows.Add(Told(entry.name, subject, handed, now),
                 *subject.rows.Find(entry.origin, entry.segment));
      }
    }
    if (rows.empty()) peer.scanned = entry.number;
    return true;
  });
  if (!all) {
    if (!rows.empty() && must_send) send(before);
    return false;
  }
  if (rows.empty() && !peer.owes_word && !peer.owes_answer) {  // nothing concerns it
    peer.scanned = peer.sent;
    return true;
  }
  send(list_.last());
  return true;
}

// An envelope of a copy (copy.h).
class DebtReplica::CopyLetter {
 public:
  CopyLetter(std::string head, Origin self, Instant now)
      : head_(std::move(head)), now_(now), rows_(self, now) {}

  static const DebtRows::Row* Before(const Subject& subject, const std::optional<RowMark>& mark) {
    return subject.rows.Before(mark);
  }
  static RowMark MarkOf(const DebtRows::Row& row) { return DebtRows::MarkOf(row); }
  bool Add(const StateName& name, const Subject& subject, const DebtRows::Row& row, size_t room) {
    if (rows_.full(room)) return false;
    rows_.Add(Told(name, subject, false, now_), row);
    return true;
  }
  bool empty() const { return rows_.empty(); }
  std::string Take() { return head_ + rows_.Take(); }

 private:
  const std::string head_;
  const Instant now_;
  DebtRowsWriter rows_;
};

// Who is no peer yet may know it too: it is told nothing of the list.
Slice DebtReplica::Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) {
  const Peer* known = FindPeer(to);
  const Peer peer = known != nullptr ? *known : Peer{.node = to};
  CopyLetter letter(Head(peer, peer.sent, peer.sent, false), self_, now);
  return WriteSlice(subjects_, letter, to, most, cursor);
}

// Both heads.
std::string DebtReplica::Head(const Peer& peer, uint64_t from, uint64_t end, bool asks) const {
  EnvelopeWriter writer({EnvelopeKind::kDebt, self_, end});
  WriteDebtHead(writer, {.stretch = end - from,
                         .incarnation = peer.incarnation,
                         .have = peer.have,
                         .gap = peer.gap_since != kEndOfTime,
                         .asks = asks});
  return writer.Take();
}

DebtState DebtReplica::Told(const StateName& name, const Subject& subject, bool handed,
                            Instant now) {
  const auto limit = static_cast<int64_t>(std::max<uint64_t>(1, subject.limit.limit));
  const Duration spacing(static_cast<int64_t>(CeilDiv(subject.limit.per.count(), limit)));
  return {.name = name,
          .handed = handed,
          .capacity = subject.limit.capacity,
          .keep = subject.forget_at - now,
          .spacing = spacing};
}

// ---- Hearing ----

std::vector<Envelope> DebtReplica::Receive(std::string_view bytes, Instant now, bool& good) {
  EnvelopeReader reader(bytes);
  const EnvelopeHead head = reader.head();
  const DebtHead debt = ReadDebtHead(reader);
  const std::vector<ToldRow> rows = ReadDebtRows(reader, now);
  Peer* const sender = FindPeer(head.sender.node);
  good = reader.done() && head.kind == EnvelopeKind::kDebt && sender != nullptr;
  if (!good) return {};
  Peer& peer = *sender;
  const Teller teller{head.sender, debt.stretch == 0};
  for (const ToldRow& row : rows) Merge(row, teller, now);
  if (head.sender.incarnation < peer.incarnation) return {};  // from the grave; its rows count
  const bool hears_me = debt.incarnation == self_.incarnation;
  if (head.sender.incarnation > peer.incarnation) {
    Greet(peer, head.sender.incarnation, hears_me);
  }
  NoteHeard(peer, head.sequence, debt.stretch, !rows.empty(), now);
  if (debt.asks) peer.owes_answer = write_now_ = true;
  if (!hears_me && debt.incarnation != 0) SayHello();
  if (!hears_me) return {};
  NoteConfirmed(peer, debt.have, debt.gap, now);
  std::vector<Envelope> out;
  Steps steps;
  if (peer.due && in_round_) {
    write_now_ = true;
  } else if (peer.due) {
    Write(peer, now, steps, out);
  }
  return out;
}

// It is heard for the first time in this life. What was sent before came to it, if it was in this
// life already; it says what of that it has.
void DebtReplica::Greet(Peer& peer, uint32_t incarnation, bool hears_me) {
  const bool same_life = peer.incarnation == 0 && hears_me;
  if (!same_life) peer = Peer{.node = peer.node, .due = list_.last() > 0};
  peer.incarnation = incarnation;
  if (same_life) return;
  next_heartbeat_ = Instant::min();
  BeginLayout();
  ended_ = layout_;
  TurnSteps steps;
  CatchUp(steps.catch_up);
}

// Somebody remembers an earlier life of this node: all have to hear that it is over, and what they
// told it then.
void DebtReplica::SayHello() {
  if (std::exchange(said_hello_, true)) return;
  for (Peer& peer : peers_) peer.owes_answer = true;
  write_now_ = true;
}

void DebtReplica::NoteHeard(Peer& peer, uint64_t end, uint64_t stretch, bool rows, Instant now) {
  if (end - stretch <= peer.have) {
    peer.have = std::max(peer.have, end);
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
    if (peer.asked_since != kEndOfTime) NoteAnswer(peer, now);
  }
  if (!gap) return;
  peer.confirmed = have;  // it may have forgotten what it confirmed
  peer.SendAgain(have);
  peer.due = peer.due || have < list_.last();
}

void DebtReplica::NoteAnswer(Peer& peer, Instant now) {
  if (peer.confirmed < peer.asked) {  // to some of it: the rest is awaited from now on
    peer.asked_since = std::max(peer.asked_since, now);
  } else {
    peer.answers_in = std::clamp(now - peer.asked_since, peer.answers_in * 7 / 8, kSlowestAnswer);
    peer.asked_since = kEndOfTime;
    peer.deaf = peer.lost = false;
    peer.told_for = kNothing;
  }
  SetNextDeaf();
}

void DebtReplica::Merge(const ToldRow& told, const Teller& teller, Instant now) {
  const DebtState& state = told.state;
  if (told.row.origin == self_) return;  // nobody knows it better
  const bool window = state.name.window != 0;
  // Over, and told late: whoever has forgotten it would only tell it again.
  if (window && state.keep == Duration{} && !subjects_.contains(state.name)) return;
  const auto [found, fresh] = FindOrMake(state.name);
  if (found == nullptr) return;
  Subject& subject = *found;
  if (fresh) {
    // Nobody has asked for it here: of the limit, only how fast debts go is known.
    subject.limit.limit = window ? 0 : 1;
    subject.limit.per = state.spacing;
    subject.ticks = Ticks(subject.limit);
  }
  if (state.handed && !subject.limited) subject.limit.capacity = state.capacity;
  const bool report = options_.report_changes && (subject.limited || window);
  const int128 before = report ? subject.rows.Debt(subject.ticks, now) : 0;
  const std::optional<uint64_t> more = subject.rows.Merge(told.row);
  if (!window) {
    Remember(state.name, subject, ForgetAt(subject, now));
  } else if (more.has_value()) {  // else it is kept as long, and rounding would push it on for ever
    Remember(state.name, subject, After(now, state.keep));
  }
  if (MustTell(subject, told, more.has_value(), teller)) {
    NoteUntold(state.name, subject, more.value_or(0), now);
  } else if (subject.limited || subject.to_all) {
    TellIfUrgent(state.name, subject, now);  // there may be less room than there was
  }
  if (!report) {
    if (options_.report_changes && more) changes_.push_back({state.name.key, subject.limit, 0});
    return;
  }
  const int128 after = subject.rows.Debt(subject.ticks, now);
  if (after == before) return;
  changes_.push_back({state.name.key, subject.limit, before - after});
  changes_.back().limit.window = state.name.window;
}

// Whether this node has to tell of the row: it was handed to it and has not been told, or comes from
// the grave. A row that its owner tells not to this node alone, it tells everybody; but of Everything
// there is to know this node alone is told.
bool DebtReplica::MustTell(Subject& subject, const ToldRow& told, bool grew, const Teller& teller) {
  const std::vector<DebtRows::Row>& rows = subject.rows.rows();
  const auto known = std::find_if(rows.begin(), rows.end(), [&](const DebtRows::Row& row) {
    return row.origin == told.row.origin && row.segment == told.row.segment;
  });
  const bool listed = known->place != 0 || known->untold;
  const bool handed = told.state.handed, by_owner = teller.life == told.row.origin;
  const bool from_grave = by_owner && IsOver(teller.life);
  if (!grew && (listed || !handed)) return false;
  if (!handed && !from_grave && !listed) return false;
  const auto i = static_cast<size_t>(known - rows.begin());
  if (!handed && by_owner && !from_grave && !teller.everything) {
    if (known->place != 0) list_.Remove(known->place);
    subject.rows.SetPlace(i, 0, false);
    return false;
  }
  subject.rows.SetPlace(i, known->place, true);
  subject.to_all = subject.to_all || handed;
  return true;
}

}  // namespace weir

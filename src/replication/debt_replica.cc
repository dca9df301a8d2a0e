#include "replication/debt_replica.h"

#include <algorithm>

namespace weir {
namespace {

constexpr size_t kMostInRound = 20'000;  // subjects

}  // namespace

DebtReplica::DebtReplica(Origin self, const DebtOptions& options, Instant)
    : self_(self), options_(options) {}

// ---- Decisions ----

std::pair<DebtReplica::Subject*, bool> DebtReplica::FindOrMake(const StateName& name) {
  const auto found = subjects_.find(name);
  if (found != subjects_.end()) {
    Bring(name, found->second);
    return {&found->second, false};
  }
  if (subjects_.size() >= options_.most_subjects) {
    turned_away_ += 1;
    return {nullptr, false};
  }
  Subject& subject = subjects_[name];
  subject.home = HomeOf(name.key);
  subject.layout = layout_ & kMostLayouts;
  subject.to_all = subject.home == self_.node;
  return {&subject, true};
}

DebtReplica::Subject* DebtReplica::Limited(const StateName& name, const ReplicatedBucket& limit) {
  Subject* const subject = FindOrMake(name).first;
  if (subject != nullptr) SetLimit(*subject, limit);
  return subject;
}

void DebtReplica::SetLimit(Subject& subject, const ReplicatedBucket& limit) {
  if (subject.limited && subject.limit == limit) return;
  subject.limit = limit;
  subject.ticks = Ticks(limit);
  subject.limited = true;
  subject.rows.Refold();
}

bool DebtReplica::Admit(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) {
  if (Ticks(limit).Of(cost) > Level(key, limit, now)) return false;
  Take(key, limit, cost, now);
  return true;
}

void DebtReplica::Take(const Key& key, const ReplicatedBucket& limit, uint64_t cost, Instant now) {
  if (cost == 0) return;
  const StateName name{key, limit.window};
  Subject* const subject = FindOrMake(name).first;
  if (subject == nullptr) return;
  const bool reported = subject->limited || limit.window != 0;
  SetLimit(*subject, limit);
  if (options_.report_changes && !reported) {  // others were faster than the news of this use
    const int128 debt = subject->rows.Debt(subject->ticks, now);
    if (debt > 0) changes_.push_back({key, limit, -debt});
  }
  subject->rows.Charge(subject->ticks, self_, cost, now, segments_);
  subject->own_untold += cost;
  Remember(name, *subject, ForgetAt(*subject, now));
  NoteUntold(name, *subject, cost, now);
}

void DebtReplica::Refund(const StateName& name, uint64_t cost, Instant now) {
  const auto found = subjects_.find(name);
  if (found == subjects_.end()) return;
  Subject& subject = found->second;
  Bring(name, subject);
  if (!subject.rows.Refund(subject.ticks, self_, cost, now)) return;
  Remember(name, subject, ForgetAt(subject, now));
  NoteUntold(name, subject, 0, now);
}

int128 DebtReplica::Level(const Key& key, const ReplicatedBucket& limit, Instant now) {
  const StateName name{key, limit.window};
  if (!subjects_.contains(name)) return Ticks(limit).Of(limit.capacity);
  Subject& subject = *Limited(name, limit);
  return subject.ticks.Of(limit.capacity) - subject.rows.Debt(subject.ticks, now);
}

uint64_t DebtReplica::Remaining(const Key& key, const ReplicatedBucket& limit, Instant now) {
  return Ticks(limit).Tokens(Level(key, limit, now));
}

// ---- When it has to be told ----

void DebtReplica::NoteUntold(const StateName& name, Subject& subject, uint64_t tokens,
                             Instant now) {
  subject.untold += tokens;
  TellIfUrgent(name, subject, now);
  if (subject.urgent || subject.again || subject.waits) return;
  subject.waits = true;
  untold_.names.push_back(name);
  if (tell_at_ == kEndOfTime) tell_at_ = After(now, options_.patience);
}

// A home has gathered as much as there is room, or this node has its share of half the room.
void DebtReplica::TellIfUrgent(const StateName& name, Subject& subject, Instant now) {
  if (subject.urgent || subject.untold == 0 || peers_.empty()) return;
  const uint128 before = uint128{Room(subject, now)} + subject.untold;
  const bool all = subject.home == self_.node && uint128{subject.untold} * 2 >= before;
  const uint128 shares = uint128{subject.own_untold} * 2 * (peers_.size() + 1);
  if (!all && (subject.own_untold == 0 || shares < before)) return;
  subject.urgent = true;
  urgent_.names.push_back(name);
}

uint64_t DebtReplica::Room(Subject& subject, Instant now) {
  const int128 full = subject.ticks.Of(subject.limit.capacity);
  return subject.ticks.Tokens(full - subject.rows.Debt(subject.ticks, now));
}

// All that waits, if it is not too much: what becomes urgent meanwhile has to wait for the end of the round.
// What others are told again is gathered first, so that it goes in few envelopes.
void DebtReplica::BeginRound(Instant now) {
  in_round_ = true;
  if (tell_at_ <= now) {
    late_ = untold_.names.size();
    tell_at_ = kEndOfTime;
  }
  const bool gathers = catching_up() && again_.names.size() < kMostInRound;
  urgent_.in_round = std::min(urgent_.names.size(), kMostInRound);
  again_.in_round = gathers ? 0 : std::min(again_.names.size(), kMostInRound);
  untold_.in_round = std::min(late_, kMostInRound);
  late_ -= untold_.in_round;
}

// True: all of this round is on the list.
bool DebtReplica::ListSome(Instant now, Steps& steps) {
  const auto list = [&](Line& line, auto listed) {
    for (; line.in_round > 0; --line.in_round) {
      if (!steps.any()) return false;
      steps.Take(Steps::kOfKey);
      const StateName name = line.names.front();
      line.names.pop_front();
      const auto found = subjects_.find(name);
      if (found == subjects_.end()) continue;
      listed(found->second);
      Bring(name, found->second);
      PutOnList(name, found->second, now);
    }
    return true;
  };
  const auto at_once = [this](Subject& subject) {
    subject.urgent = false;
    pushes_ += 1;
  };
  const auto once_more = [this](Subject& subject) {
    subject.again = false;
    pushes_ += 1;
  };
  return list(urgent_, at_once) && list(again_, once_more) &&
         list(untold_, [](Subject& subject) { subject.waits = false; });
}

void DebtReplica::PutOnList(const StateName& name, Subject& subject, Instant now) {
  ChooseAudience(subject, now);
  subject.untold = subject.own_untold = 0;
  bool any = false;
  for (size_t i = 0; i < subject.rows.rows().size(); ++i) {
    const DebtRows::Row& row = subject.rows.rows()[i];
    if (!row.untold) continue;
    if (row.place != 0) list_.Remove(row.place);
    subject.rows.SetPlace(i, list_.Add(name, row.origin, row.segment), false);
    any = true;
  }
  if (!any) return;
  for (Peer& peer : peers_) {
    if (subject.to_all || peer.node == subject.home) peer.due = true;
  }
  write_now_ = true;
}

// ---- Forgetting ----

// When everybody has heard of all, and nothing of it counts any more. Not at once: what is over by
// itself may not be together with rows that are still to come.
Instant DebtReplica::ForgetAt(Subject& subject, Instant now) const {
  if (subject.limit.limit == 0) return After(now, subject.limit.per);
  return std::max(After(subject.rows.ZeroAt(subject.ticks, now), options_.grace),
                  After(now, options_.grace / 2));
}

void DebtReplica::Remember(const StateName& name, Subject& subject, Instant until) {
  const bool is_new = subject.forget_at == Instant{};
  subject.forget_at = std::max(subject.forget_at, until);
  if (is_new) forgetting_.emplace(subject.forget_at, name);
}

void DebtReplica::Forget(Instant now, Steps& steps) {
  const auto off_list = [this](const DebtRows::Row& row) {
    if (row.place != 0) list_.Remove(row.place);
  };
  while (!forgetting_.empty() && forgetting_.top().first <= now && steps.any()) {
    steps.Take(Steps::kOfKey);
    const StateName name = forgetting_.top().second;
    forgetting_.pop();
    const auto found = subjects_.find(name);
    if (found == subjects_.end()) continue;
    Subject& subject = found->second;
    const bool told = !subject.urgent && !subject.again && !subject.waits;
    if (subject.forget_at <= now && told) {
      for (const DebtRows::Row& row : subject.rows.rows()) off_list(row);
      subjects_.erase(found);
      continue;
    }
    if (subject.limited && told) {
      const Instant before = After(now, -options_.grace);
      for (const DebtRows::Row& row : subject.rows.DropEnded(subject.ticks, before, now)) {
        off_list(row);
      }
    }
    forgetting_.emplace(std::max(subject.forget_at, After(now, options_.heartbeat)), name);
  }
}

bool DebtReplica::HasLimit(const Key& key) const {
  const auto found = subjects_.find({key});
  return found != subjects_.end() && found->second.limited;
}

const DebtRows* DebtReplica::Find(const StateName& name) const {
  const auto found = subjects_.find(name);
  return found == subjects_.end() ? nullptr : &found->second.rows;
}

size_t DebtReplica::bytes() const {
  MemoryCount count;
  Steps steps = Steps::Unbounded();
  CountBytes(count, steps);
  return count.bytes;
}

void DebtReplica::CountBytes(MemoryCount& count, Steps& steps) const {
  const auto of_rows = [](const Subject& subject) { return subject.rows.heap_bytes(); };
  if (!CountStates(subjects_, 0, steps, count, of_rows)) return;
  count.bytes += MapBytes(subjects_) + peers_.capacity() * sizeof(Peer) + list_.bytes();
  for (const Line* line : {&urgent_, &again_, &untold_}) {
    count.bytes += line->names.size() * sizeof(StateName);
  }
  count.bytes += forgetting_.size() * sizeof(Due);
  count.done = true;
}

}  // namespace weir

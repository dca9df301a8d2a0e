#include "net/rota.h"

#include <algorithm>

namespace weir {

void Rota::Push(Line& line, Member& member) {
  member.line_ = &line;
  member.before_ = line.last;
  member.behind_ = nullptr;
  (line.last == nullptr ? line.first : line.last->behind_) = &member;
  line.last = &member;
}

void Rota::PushFirst(Line& line, Member& member) {
  member.line_ = &line;
  member.before_ = nullptr;
  member.behind_ = line.first;
  (line.first == nullptr ? line.last : line.first->before_) = &member;
  line.first = &member;
}

void Rota::Take(Member& member) {
  Line& line = *member.line_;
  (member.before_ == nullptr ? line.first : member.before_->behind_) = member.behind_;
  (member.behind_ == nullptr ? line.last : member.behind_->before_) = member.before_;
  member.line_ = nullptr;
}

void Rota::Add(Member& member, const Since& since, Instant now) {
  if (member.line_ != nullptr) return;
  next_is_late_ = false;
  AddTo(member.patient_ ? round_ : crowd_, member, since, now);
}

void Rota::AddAgain(Member& member, const Since& since, Instant now) {
  if (member.line_ != nullptr) return;
  AddTo(round_, member, since, now);
}

void Rota::AddTo(Line& line, Member& member, const Since& since, Instant now) {
  Roll(now);
  member.rota_ = this;
  member.since_ = since;
  if (PastDeadline(member)) {
    // Who was just refused goes on.
    return next_is_late_ ? PushFirst(late_, member) : Push(late_, member);
  }
  Push(IsLight(member) ? light_ : line, member);
}

void Rota::Leave(Member& member) {
  if (member.line_ != nullptr) Take(member);
}

void Rota::SetLateApart(Line& line) {
  while (line.first != nullptr && PastDeadline(*line.first)) {
    Member& late = *line.first;
    Take(late);
    Push(late_, late);
  }
}

Rota::Member* Rota::EitherEnd(const Line& line) {
  if (late_.first == nullptr) return line.first;
  last_next_ = !last_next_;
  return last_next_ ? line.last : line.first;
}

Rota::Member* Rota::Choose() {
  for (Line* line : {&light_, &crowd_, &round_}) SetLateApart(*line);
  if (late_.first != nullptr && MayRefuse()) return late_.first;
  if (light_.first != nullptr && (!heavy() || served_light_ * 2 <= served_)) {
    return EitherEnd(light_);
  }
  rounds_next_ = !rounds_next_;
  if (crowd_.first == nullptr || (rounds_next_ && round_.first != nullptr)) return round_.first;
  return EitherEnd(crowd_);
}

Rota::Member* Rota::Next() {
  Member* const next = Choose();
  if (next == nullptr) return nullptr;
  next_is_late_ = next->line_ == &late_;
  next_is_light_ = next->line_ == &light_;
  Take(*next);
  return next;
}

void Rota::Took(Member& member, Instant now, Duration time, bool refused) {
  Roll(now);
  if (member.stretch_ != stretch_) {
    active_ += 1;
    member.took_before_ = member.stretch_ + 1 == stretch_ ? member.took_ : Duration{};
    member.took_ = {};
    member.stretch_ = stretch_;
  }
  const Duration work = std::min(time, kMostOfATurn);
  member.took_ += work;
  (refused ? refused_ : served_) += work;
  if (next_is_light_) served_light_ += work;
  stretch_work_ += work;
  worked_ += work;
}

bool Rota::IsLight(const Member& member) const {
  if (member.stretch_ + 1 < stretch_) return true;
  if (member.stretch_ + 1 == stretch_) return member.took_ <= share_;
  return std::max(member.took_, member.took_before_) <= share_;
}

void Rota::Roll(Instant now) {
  if (now - stretch_began_ < kStretch) return;
  // Half of an equal share, of what would be left for one more.
  share_ = stretch_work_ / 2 / static_cast<int64_t>(active_ + 1);
  active_ = 0;
  stretch_work_ = {};
  // A pause makes everybody light.
  stretch_ += now - stretch_began_ < 2 * kStretch ? 1 : 2;
  stretch_began_ = now;
  served_ = served_ * 7 / 8;
  served_light_ = served_light_ * 7 / 8;
  refused_ = refused_ * 7 / 8;
}

}  // namespace weir

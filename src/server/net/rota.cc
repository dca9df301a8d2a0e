#include "server/net/rota.h"

#include <algorithm>

namespace weir {

void Rota::Push(Line& line, Member& member) {
  member.line_ = &line;
  member.before_ = line.last;
  member.behind_ = nullptr;
  (line.last == nullptr ? line.first : line.last->behind_) = &member;
  line.last = &member;
}

void Rota::Take(Member& member) {
  Line& line = *member.line_;
  (member.before_ == nullptr ? line.first : member.before_->behind_) = member.behind_;
  (member.behind_ == nullptr ? line.last : member.behind_->before_) = member.before_;
  member.line_ = nullptr;
}

void Rota::Add(Member& member, Instant now) {
  if (member.line_ != nullptr) return;
  Roll(now);
  member.rota_ = this;
  member.since_ = now;
  member.turns_then_ = turns_;
  Push(IsLight(member) ? light_ : member.patient_ ? round_ : crowd_, member);
}

void Rota::AddAgain(Member& member, Instant now) {
  if (member.line_ != nullptr) return;
  Roll(now);
  member.rota_ = this;
  member.since_ = now;
  member.turns_then_ = turns_;
  Push(IsLight(member) ? light_ : round_, member);
}

void Rota::Leave(Member& member) {
  if (member.line_ != nullptr) Take(member);
}

Rota::Member* Rota::Next(Instant now) {
  Member* next = light_.first;
  if (next == nullptr) {
    rounds_next_ = !rounds_next_;
    next = round_.first;
    if (crowd_.first != nullptr && (next == nullptr || !rounds_next_)) {
      next = crowd_.first;
      // While the late ones cannot be told, those who are in time are served.
      if (PastDeadline(*next, now) && !MayRefuse() && !PastDeadline(*crowd_.last, now)) {
        next = crowd_.last;
      }
    }
  }
  if (next == nullptr) return nullptr;
  Take(*next);
  turns_ += 1;
  return next;
}

bool Rota::Late(const Member& member, Instant now) const {
  return !member.patient_ && PastDeadline(member, now) &&
         turns_ - member.turns_then_ > kTurnsBetween && MayRefuse();
}

void Rota::Took(Member& member, Instant now, Duration time, bool refused) {
  Roll(now);
  if (member.stretch_ != stretch_) {
    active_ += 1;
    member.took_before_ = member.stretch_ + 1 == stretch_ ? member.took_ : Duration{};
    member.took_ = {};
    member.stretch_ = stretch_;
  }
  member.took_ += time;
  (refused ? refused_ : served_) += time;
}

bool Rota::IsLight(const Member& member) const {
  if (member.stretch_ + 1 < stretch_) return true;
  if (member.stretch_ + 1 == stretch_) return member.took_ <= share_;
  return std::max(member.took_, member.took_before_) <= share_;
}

void Rota::Roll(Instant now) {
  if (now - stretch_began_ < kStretch) return;
  // Half of an equal share, of what would be left for one more.
  share_ = kStretch / 2 / static_cast<int64_t>(active_ + 1);
  active_ = 0;
  // A pause makes everybody light.
  stretch_ += now - stretch_began_ < 2 * kStretch ? 1 : 2;
  stretch_began_ = now;
  served_ = served_ * 7 / 8;
  refused_ = refused_ * 7 / 8;
}

}  // namespace weir

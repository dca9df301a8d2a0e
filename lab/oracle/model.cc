#include "lab/oracle/model.h"

#include <algorithm>

namespace weir::oracle {

Answer Session::Ask(const Event& event) {
  if (event.kind == Event::Kind::kRestart) return Restart(event);
  model_->Observe(event.now);
  return event.kind == Event::Kind::kSettle ? Settle(event) : Request(event);
}

Answer Session::Restart(const Event& event) {
  Answer answer;
  open_.clear();
  model_->Restart(event.now);
  answer.retry_at = event.now;
  Finish(event.now, &answer);
  return answer;
}

Answer Session::Request(const Event& event) {
  Answer answer;
  const std::optional<uint64_t> room = model_->Room(event.now);
  answer.allowed = room.has_value() && *room >= event.least;
  if (answer.allowed) {
    answer.granted = std::min(event.cost, *room);
    answer.retry_at = model_->When(event.least, event.now);
    model_->Take(answer.granted, event.now, event.ticket);
    if (event.ticket != 0) open_.push_back({event.ticket, answer.granted});
  } else {
    model_->Reject(event.cost, event.now);
    answer.retry_at = model_->When(event.least, event.now);
    answer.retry_true = IsEarliest(answer.retry_at, event);
  }
  Finish(event.now, &answer);
  return answer;
}

bool Session::IsEarliest(Instant retry_at, const Event& event) const {
  if (retry_at >= kLastInstant) return true;
  const auto admits = [&](Instant at) {
    const std::optional<uint64_t> room = model_->Room(at);
    return room.has_value() && *room >= event.least;
  };
  return retry_at > event.now && admits(retry_at) && !admits(retry_at - Duration(1));
}

Answer Session::Settle(const Event& event) {
  Answer answer;
  const auto open = std::find_if(open_.begin(), open_.end(),
                                 [&](const Open& o) { return o.ticket == event.ticket; });
  answer.known = open != open_.end();
  answer.retry_at = event.now;
  if (answer.known) {
    if (event.cost > open->granted) model_->Charge(event.cost - open->granted, event.now);
    if (event.cost < open->granted) {
      answer.refunded = model_->Refund(event.ticket, open->granted - event.cost, event.now);
    }
    model_->Close(event.ticket);
    open_.erase(open);
  }
  Finish(event.now, &answer);
  return answer;
}

void Session::Finish(Instant now, Answer* answer) const {
  answer->remaining = model_->Room(now).value_or(0);
  answer->reset_at = model_->Reset(now);
  answer->use = model_->Use(now);
  answer->tier = model_->Tier(now);
  answer->tier.burst &= answer->granted != 0;
}

}  // namespace weir::oracle

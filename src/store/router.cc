#include "store/router.h"

namespace weir {
namespace {

bool IsFlexible(const Charge& charge) { return charge.least < charge.cost; }

// What is told of a limit about which nothing is known.
void ShowUnknown(Charge& charge) {
  const LimitNumbers numbers = Numbers(charge.limit->limit);
  charge.refused = false;
  charge.taken = 0;
  charge.remaining = numbers.capacity;
  charge.reset_after = charge.wait = {};
  charge.used = charge.tier = charge.tier_limit = charge.tier_hits = 0;
  charge.burst = false;
}

}  // namespace

void Routing::Leg::Done(const Turn& now) { routing_.router_->Answered(routing_, now); }
void Routing::Leg::Due(const Turn& now) { routing_.router_->Late(routing_, now); }

std::array<FailureCount, kFailureCauses> Router::Failures() const {
  static constexpr std::string_view kNames[] = {"deadline", "unavailable", "too_many_waiting",
                                                "cannot_wait"};
  std::array<FailureCount, kFailureCauses> counts;
  for (size_t i = 0; i < counts.size(); ++i) {
    counts[i] = {kNames[i], failures_[i].load(std::memory_order_relaxed)};
  }
  return counts;
}

// ---- Parts ----

// The charges of one place, side by side. True if they are all.
bool Router::Split(std::span<Charge> all, bool remote, Routing::Part& part) {
  part.copies.clear();
  part.places.clear();
  size_t count = 0;
  for (const Charge& charge : all) count += charge.limit->traits.remote == remote ? 1 : 0;
  if (count == all.size() || count == 0) {
    part.all = all.first(count);
    return count != 0;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].limit->traits.remote != remote) continue;
    part.copies.push_back(all[i]);
    part.places.push_back(i);
  }
  part.all = part.copies;
  return false;
}

void Router::PutBack(const Routing::Part& part, std::span<Charge> all) {
  for (size_t i = 0; i < part.places.size(); ++i) all[part.places[i]] = part.copies[i];
}

// ---- Asking ----

void Router::Begin(Routing& routing) {
  routing.router_ = this;
  routing.waits_ = false;
  routing.admitted = {};
  routing.here_admitted_ = {.allowed = true, .granted = UINT64_MAX};
  routing.receipts.clear();
  const bool all_remote = Split(routing.charges, true, routing.remote_);
  if (!all_remote || routing.keeps_receipts) {
    routing.receipts.resize(routing.charges.size());
    for (size_t i = 0; i < routing.charges.size(); ++i) {
      routing.charges[i].receipt = routing.want == Want::kTake ? &routing.receipts[i] : nullptr;
    }
    Split(routing.charges, true, routing.remote_);  // with the receipts
  }
  Split(routing.charges, false, routing.here_);
  Split(routing.refunds, true, routing.refunds_remote_);
  Split(routing.refunds, false, routing.refunds_here_);
}

bool Router::Admit(Routing& routing) {
  Begin(routing);
  if (!AskHere(routing)) {
    Finish(routing, routing.now);
    return true;
  }
  return AskRemote(routing);
}

// False if nothing more is to be asked.
bool Router::AskHere(Routing& routing) {
  if (routing.here_.all.empty()) return true;
  const bool take = routing.want == Want::kTake;
  routing.here_admitted_ = take ? here_.AdmitNow(routing.here_.all, routing.now)
                                : here_.PeekNow(routing.here_.all, routing.now);
  routing.admitted = routing.here_admitted_;
  return routing.admitted.error == Code::kOk;
}

bool Router::AskRemote(Routing& routing) {
  Admission& leg = routing.leg_;
  const bool refused = !routing.here_admitted_.allowed;
  leg.charges = routing.remote_.all;
  leg.refunds = routing.refunds_remote_.all;
  leg.want = refused ? Want::kLook : routing.want;
  leg.now = routing.now;
  leg.deadline = routing.deadline;
  leg.home = routing.home;
  for (Charge& charge : leg.charges) {
    if (IsFlexible(charge)) charge.cost = std::min(charge.cost, routing.here_admitted_.granted);
  }
  if (waiting() >= kMostWaiting) {
    Fail(routing, FailureCause::kTooMany, Code::kUnavailable, routing.now);
    return true;
  }
  if (store_ == nullptr) {
    Fail(routing, FailureCause::kUnavailable, Code::kUnavailable, routing.now);
    return true;
  }
  if (store_->Admit(leg)) {
    Combine(routing, routing.now);
    return true;
  }
  if (routing.home == nullptr) {
    store_->Abandon(leg);
    Fail(routing, FailureCause::kCannotWait, Code::kUnavailable, routing.now);
    return true;
  }
  routing.waits_ = true;
  waiting_.fetch_add(1, std::memory_order_relaxed);
  if (routing.deadline != kEndOfTime) routing.home->timers().Set(routing.leg_, routing.deadline);
  return false;
}

void Router::StopWaiting(Routing& routing) {
  assert(routing.waits_);
  routing.waits_ = false;
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  routing.home->timers().Cancel(routing.leg_);
}

void Router::Answered(Routing& routing, const Turn& now) {
  StopWaiting(routing);
  Combine(routing, now);
  routing.Routed(now);
}

void Router::Late(Routing& routing, const Turn& now) {
  store_->Abandon(routing.leg_);
  StopWaiting(routing);
  Fail(routing, FailureCause::kLate, Code::kUnavailable, now);
  routing.Routed(now);
}

void Router::Abandon(Routing& routing, Instant now) {
  if (!routing.waits_) return;
  store_->Abandon(routing.leg_);
  StopWaiting(routing);
  KeepHere(routing, 0, now);
  routing.receipts.clear();
}

// ---- Putting the answers together ----

// Of what was taken here no more than `keep` of each charge stays taken.
void Router::KeepHere(Routing& routing, uint64_t keep, Instant now) {
  for (Charge& charge : routing.here_.all) {
    if (charge.receipt == nullptr || charge.receipt->limit == nullptr) continue;
    if (keep > 0 && (!IsFlexible(charge) || charge.taken <= keep)) continue;
    charge.remaining = SaturatingAdd(charge.remaining, charge.taken - std::min(keep, charge.taken));
    charge.taken = std::min(keep, charge.taken);
    if (keep > 0) {
      here_.Reduce({charge.receipt, 1}, keep, now);
    } else {
      here_.Cancel({charge.receipt, 1}, now);
      *charge.receipt = {};
    }
  }
}

void Router::Refuse(Routing& routing, Instant now) {
  KeepHere(routing, 0, now);
  routing.admitted.allowed = false;
  routing.admitted.granted = 0;
}

void Router::Combine(Routing& routing, Instant now) {
  const Admitted& remote = routing.leg_.admitted;
  if (remote.error != Code::kOk) {
    return Fail(routing, FailureCause::kUnavailable, remote.error, now);
  }
  const Admitted& here = routing.here_admitted_;
  Admitted& all = routing.admitted;
  all = routing.remote_.all.empty() ? here : remote;
  if (!here.allowed) {
    all = here;
    all.retry_after = std::max(here.retry_after, remote.retry_after);
  } else if (!remote.allowed) {
    Refuse(routing, now);
  } else if (!routing.here_.all.empty() && !routing.remote_.all.empty()) {
    all.granted = std::min(here.granted, remote.granted);
    if (routing.want == Want::kTake && all.granted < here.granted) {
      KeepHere(routing, all.granted, now);
    }
  }
  for (Charge& charge : routing.remote_.all) {
    if (charge.receipt != nullptr) charge.receipt->remote = charge.receipt->limit != nullptr;
  }
  Finish(routing, now);
}

void Router::Fail(Routing& routing, FailureCause cause, Code code, Instant now) {
  failures_[static_cast<size_t>(cause)].fetch_add(1, std::memory_order_relaxed);
  Admitted& all = routing.admitted;
  all = routing.here_admitted_;
  bool denied = false;
  for (Charge& charge : routing.remote_.all) {
    const OnFailure on_failure = charge.limit->traits.on_failure;
    denied = denied || (on_failure == OnFailure::kDeny && !charge.shadow);
    if (on_failure != OnFailure::kLocal) ShowUnknown(charge);
  }
  if (all.allowed) {
    all.degraded = true;
    if (denied) {
      KeepHere(routing, 0, now);
      all = {.error = code};
    } else if (!AskInstead(routing, now)) {
      Refuse(routing, now);
    }
  } else {
    AskInstead(routing, now);
  }
  if (all.granted == UINT64_MAX)
    all.granted = routing.charges.empty() ? 0 : routing.charges[0].cost;
  for (Charge& refund : routing.refunds_remote_.all) ShowUnknown(refund);
  Finish(routing, now);
}

// Has the limits that say `local` decided here. False if they refuse.
bool Router::AskInstead(Routing& routing, Instant now) {
  std::vector<Charge> instead;
  std::vector<Charge*> of;
  for (Charge& charge : routing.remote_.all) {
    if (charge.limit->traits.on_failure != OnFailure::kLocal) continue;
    instead.push_back(charge);
    of.push_back(&charge);
  }
  if (instead.empty()) return true;
  const bool take = routing.want == Want::kTake && routing.admitted.allowed;
  const Admitted admitted = take ? here_.AdmitNow(instead, now) : here_.PeekNow(instead, now);
  for (size_t i = 0; i < of.size(); ++i) *of[i] = instead[i];
  if (admitted.error != Code::kOk) {
    for (Charge* charge : of) ShowUnknown(*charge);
    return true;
  }
  Admitted& all = routing.admitted;
  all.retry_after = std::max(all.retry_after, admitted.retry_after);
  if (!all.allowed || !admitted.allowed) return admitted.allowed;
  all.granted = std::min(all.granted, admitted.granted);
  if (take) KeepHere(routing, all.granted, now);
  return true;
}

void Router::Finish(Routing& routing, Instant now) {
  if (routing.admitted.error == Code::kOk) {
    for (Charge& refund : routing.refunds_here_.all) here_.Refund(refund, now);
  }
  PutBack(routing.here_, routing.charges);
  PutBack(routing.remote_, routing.charges);
  PutBack(routing.refunds_here_, routing.refunds);
  PutBack(routing.refunds_remote_, routing.refunds);
  if (routing.receipts.empty()) return;
  const bool kept = routing.keeps_receipts && routing.admitted.allowed;
  std::erase_if(routing.receipts, [&](Receipt& receipt) {
    if (receipt.limit == nullptr) return true;
    if (kept && receipt.rejected == 0) return false;
    (receipt.remote ? *store_ : static_cast<Store&>(here_)).Close({&receipt, 1}, now);
    return true;
  });
  for (Charge& charge : routing.charges) charge.receipt = nullptr;
}

}  // namespace weir

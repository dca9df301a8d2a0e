#include "store/router.h"

#include <algorithm>
#include <tuple>

namespace weir {
namespace {

bool IsFlexible(const Charge& charge) { return charge.least < charge.cost; }
bool HasQuota(std::span<const Charge> charges) {
  return std::any_of(charges.begin(), charges.end(), [](const Charge& c) { return c.quota; });
}

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

void Routing::Leg::Done(const Turn& turn) { routing_.router_->Answered(routing_, turn); }
void Routing::Leg::Due(const Turn& turn) { routing_.router_->Late(routing_, turn); }

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

// The charges of one place, side by side.
void Router::Split(std::span<Charge> all, bool remote, Part& part) {
  part.copies.clear();
  part.asked.clear();
  size_t count = 0;
  for (const Charge& charge : all) count += charge.limit->traits.remote == remote ? 1 : 0;
  part.all = all.first(count);
  if (count == all.size() || count == 0) return;
  for (const Charge& charge : all) {
    if (charge.limit->traits.remote != remote) continue;
    part.copies.push_back(charge);
    part.asked.push_back(&charge);
  }
  part.all = {part.copies.data(), part.copies.size()};
}

// The answers go back to the asker; his questions stay what they were.
void Router::PutBack(const Part& part, std::span<Charge> all) {
  for (size_t i = 0; i < part.copies.size(); ++i) {
    Charge& to = all[static_cast<size_t>(part.asked[i] - all.data())];
    const auto [cost, shadow, quota] = std::tuple(to.cost, to.shadow, to.quota);
    to = part.copies[i];
    std::tie(to.cost, to.shadow, to.quota) = std::tuple(cost, shadow, quota);
  }
}

void Router::FreeQuotas(Part& part) {
  for (Charge& charge : part.copies) {
    charge.shadow = charge.shadow || charge.quota;
    charge.quota = false;
  }
}

// ---- Asking ----

void Router::Begin(Routing& routing) {
  assert(!routing.waits_);
  routing.router_ = this;
  routing.admitted = {.allowed = true};
  routing.here_admitted_ = {.allowed = true, .granted = UINT64_MAX};
  routing.receipts.clear();
  routing.left_.clear();
  const bool take = routing.want == Want::kTake;
  if (take) routing.left_.resize(routing.charges.size());
  for (size_t i = 0; i < routing.charges.size(); ++i) {
    Charge& charge = routing.charges[i];
    // Here they may have to be cancelled; elsewhere they are wanted only by whoever will settle.
    const bool wanted = take && (routing.keeps_receipts || !charge.limit->traits.remote);
    charge.receipt = wanted ? &routing.left_[i] : nullptr;
  }
  Split(routing.charges, true, routing.remote_);
  Split(routing.charges, false, routing.here_);
  Split(routing.refunds, true, routing.refunds_remote_);
  Split(routing.refunds, false, routing.refunds_here_);
}

bool Router::Admit(Routing& routing) {
  Begin(routing);
  const bool asks_remote = !routing.remote_.all.empty() || !routing.refunds_remote_.all.empty();
  if (AskHere(routing) && asks_remote) return AskRemote(routing);
  Finish(routing, routing.now);
  return true;
}

// False if nothing was decided.
bool Router::AskHere(Routing& routing) {
  Part& here = routing.here_;
  if (here.all.empty()) return true;
  const bool split_quotas = HasQuota(here.all) && HasQuota(routing.remote_.all);
  if (split_quotas) FreeQuotas(here);
  const bool take = routing.want == Want::kTake;
  routing.here_admitted_ =
      take ? here_.AdmitNow(here.all, routing.now) : here_.PeekNow(here.all, routing.now);
  routing.admitted = routing.here_admitted_;
  for (size_t i = 0; split_quotas && i < here.copies.size(); ++i) {
    if (here.asked[i]->quota && !here.copies[i].refused) FreeQuotas(routing.remote_);
  }
  return routing.admitted.error == Code::kOk;
}

bool Router::AskRemote(Routing& routing) {
  Admission& leg = routing.leg_;
  const Admitted& here = routing.here_admitted_;
  leg.charges = routing.remote_.all;
  leg.refunds = routing.refunds_remote_.all;
  leg.want = here.allowed ? routing.want : Want::kLook;
  leg.now = routing.now;
  leg.deadline = routing.deadline;
  leg.home = routing.home;
  for (Charge& charge : leg.charges) {
    if (here.allowed && IsFlexible(charge)) charge.cost = std::min(charge.cost, here.granted);
  }
  if (store_ == nullptr || waiting() >= most_waiting_) {
    const FailureCause cause =
        store_ == nullptr ? FailureCause::kUnavailable : FailureCause::kTooMany;
    Fail(routing, cause, Code::kUnavailable, routing.now);
    return true;
  }
  StartWaiting(routing);
  if (!store_->Admit(leg)) {
    assert(routing.home != nullptr);
    if (routing.deadline != kEndOfTime) routing.home->timers().Set(routing.leg_, routing.deadline);
    return false;
  }
  StopWaiting(routing);
  Combine(routing, routing.now);
  return true;
}

void Router::StartWaiting(Routing& routing) {
  routing.waits_ = true;
  waiting_.fetch_add(1, std::memory_order_relaxed);
  for (const Charge& charge : routing.leg_.charges) charge.limit->tickets.fetch_add(1);
  for (const Charge& refund : routing.leg_.refunds) refund.limit->tickets.fetch_add(1);
}

void Router::StopWaiting(Routing& routing) {
  assert(routing.waits_);
  routing.waits_ = false;
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  for (const Charge& charge : routing.leg_.charges) charge.limit->tickets.fetch_sub(1);
  for (const Charge& refund : routing.leg_.refunds) refund.limit->tickets.fetch_sub(1);
  if (routing.leg_.is_set()) routing.home->timers().Cancel(routing.leg_);
}

void Router::Answered(Routing& routing, const Turn& now) {
  StopWaiting(routing);
  Combine(routing, routing.TimeOf(now));
  routing.Routed(now);
}

void Router::Late(Routing& routing, const Turn& now) {
  store_->Abandon(routing.leg_);
  StopWaiting(routing);
  Fail(routing, FailureCause::kLate, Code::kUnavailable, routing.TimeOf(now));
  routing.Routed(now);
}

void Router::Abandon(Routing& routing, Instant now) {
  if (!routing.waits_) return;
  store_->Abandon(routing.leg_);
  StopWaiting(routing);
  CancelHere(routing, now);
}

// ---- Putting the answers together ----

// What is told of the limits here, after something was given back.
void Router::ShowHere(Routing& routing, Instant now) {
  for (Charge& charge : routing.here_.all) {
    Charge look(charge.key, charge.limit, 0, 0);
    here_.PeekNow({&look, 1}, now);
    charge.remaining = look.remaining;
    charge.reset_after = look.reset_after;
    charge.used = look.used;
    charge.tier = look.tier;
    charge.tier_limit = look.tier_limit;
    charge.tier_hits = look.tier_hits;
  }
}

void Router::CancelHere(Routing& routing, Instant now) {
  bool any = false;
  for (Charge& charge : routing.here_.all) {
    charge.taken = 0;
    charge.burst = false;
    if (charge.receipt == nullptr || charge.receipt->limit == nullptr) continue;
    here_.Cancel({charge.receipt, 1}, now);
    *charge.receipt = {};
    any = true;
  }
  if (any) ShowHere(routing, now);
}

void Router::ReduceHere(Routing& routing, Instant now) {
  const uint64_t keep = routing.admitted.granted;
  bool any = false;
  for (Charge& charge : routing.here_.all) {
    if (!IsFlexible(charge) || charge.taken <= keep || charge.receipt == nullptr) continue;
    here_.Reduce({charge.receipt, 1}, keep, now);
    charge.taken = keep;
    any = true;
  }
  if (any) ShowHere(routing, now);
}

void Router::Refuse(Routing& routing, Instant now) {
  CancelHere(routing, now);
  routing.admitted.allowed = false;
  routing.admitted.granted = 0;
}

void Router::Combine(Routing& routing, Instant now) {
  const Admitted& remote = routing.leg_.admitted;
  if (remote.error != Code::kOk) {
    const bool cannot_wait = routing.home == nullptr && remote.error == Code::kUnavailable;
    return Fail(routing, cannot_wait ? FailureCause::kCannotWait : FailureCause::kUnavailable,
                remote.error, now);
  }
  for (Charge& charge : routing.remote_.all) {
    if (charge.receipt != nullptr) charge.receipt->remote = charge.receipt->limit != nullptr;
  }
  const Admitted& here = routing.here_admitted_;
  Admitted& all = routing.admitted;
  if (!here.allowed) {
    all.retry_after = std::max(here.retry_after, remote.retry_after);
  } else if (!remote.allowed) {
    all = remote;
    Refuse(routing, now);
  } else if (!routing.remote_.all.empty()) {
    all.granted = std::min(here.granted, remote.granted);
    ReduceHere(routing, now);
  }
  Finish(routing, now);
}

void Router::Fail(Routing& routing, FailureCause cause, Code code, Instant now) {
  failures_[static_cast<size_t>(cause)].fetch_add(1, std::memory_order_relaxed);
  Admitted& all = routing.admitted;
  if (routing.here_.all.empty() && !routing.charges.empty()) all.granted = routing.charges[0].cost;

  const auto remote = routing.remote_.all;
  const bool free_quotas = std::any_of(remote.begin(), remote.end(), [](const Charge& charge) {
    return charge.quota && charge.limit->traits.on_failure == OnFailure::kAllow;
  });
  bool decides = false, denies = false;
  for (Charge& charge : remote) {
    const OnFailure on_failure = charge.limit->traits.on_failure;
    const bool refuses = !charge.shadow && !(charge.quota && free_quotas);
    decides = decides || !charge.shadow;
    denies = denies || (refuses && on_failure == OnFailure::kDeny);
    if (on_failure != OnFailure::kLocal) ShowUnknown(charge);
  }
  for (Charge& refund : routing.refunds_remote_.all) ShowUnknown(refund);

  if (!all.allowed) {
    AskInstead(routing, free_quotas, now);
  } else if (denies) {
    CancelHere(routing, now);
    all = {.error = code};
  } else {
    all.degraded = decides;
    if (!AskInstead(routing, free_quotas, now)) Refuse(routing, now);
  }
  Finish(routing, now);
}

// Has the limits that say `local` decided here; only looks if the request is refused already. False if
// they refuse.
bool Router::AskInstead(Routing& routing, bool free_quotas, Instant now) {
  absl::InlinedVector<Charge, 3> instead;
  for (const Charge& charge : routing.remote_.all) {
    if (charge.limit->traits.on_failure != OnFailure::kLocal) continue;
    Charge& copy = instead.emplace_back(charge);
    copy.shadow = charge.shadow || (charge.quota && free_quotas);
    copy.quota = charge.quota && !copy.shadow;
  }
  if (instead.empty()) return true;
  Admitted& all = routing.admitted;
  const bool take = routing.want == Want::kTake && all.allowed;
  const std::span<Charge> charges(instead.data(), instead.size());
  const Admitted admitted = take ? here_.AdmitNow(charges, now) : here_.PeekNow(charges, now);
  const Charge* answer = instead.data();
  for (Charge& charge : routing.remote_.all) {
    if (charge.limit->traits.on_failure != OnFailure::kLocal) continue;
    const auto [shadow, quota] = std::pair(charge.shadow, charge.quota);
    charge = *answer++;
    std::tie(charge.shadow, charge.quota) = std::pair(shadow, quota);
    if (admitted.error != Code::kOk) ShowUnknown(charge);
  }
  if (admitted.error != Code::kOk) return true;  // there is no room for them here: nothing is known
  all.retry_after = std::max(all.retry_after, admitted.retry_after);
  if (!all.allowed || !admitted.allowed) return admitted.allowed;
  all.granted = std::min(all.granted, admitted.granted);
  ReduceHere(routing, now);
  return true;
}

void Router::Finish(Routing& routing, Instant now) {
  const bool decided = routing.admitted.error == Code::kOk;
  for (Charge& refund : routing.refunds_here_.all) {
    if (decided) here_.Refund(refund, now);
  }
  PutBack(routing.here_, routing.charges);
  PutBack(routing.remote_, routing.charges);
  PutBack(routing.refunds_here_, routing.refunds);
  PutBack(routing.refunds_remote_, routing.refunds);
  for (Charge& charge : routing.charges) charge.receipt = nullptr;
  const bool kept = routing.keeps_receipts && decided && routing.admitted.allowed;
  for (Receipt& receipt : routing.left_) {
    if (receipt.limit == nullptr) continue;
    if (kept && receipt.rejected == 0) {
      routing.receipts.push_back(std::move(receipt));
    } else {
      (receipt.remote ? *store_ : static_cast<Store&>(here_)).Close({&receipt, 1}, now);
    }
  }
  routing.left_.clear();
}

}  // namespace weir

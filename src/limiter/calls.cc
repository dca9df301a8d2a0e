// Questions that may have to be waited for: asked, routed, and concluded now or later.
#include <cassert>

#include "limiter/beyond_reach.h"
#include "limiter/late.h"

namespace weir {
namespace {

constexpr size_t kBatch = 16;
constexpr uint64_t kMostSettled = uint64_t{1} << 53;  // so that no sum of them overflows soon

// For whoever cannot wait.
class DecideAtOnce final : public DecideCall {
 public:
  void Answered(const Turn&) override { assert(false); }
};
class SettleAtOnce final : public SettleCall {
 public:
  void Answered(const Turn&) override { assert(false); }
};

}  // namespace

// ---- Decide ----

void Limiter::Impl::PrepareCall(const RulesInForce& rules, Instant now, DecideCall& call) {
  assert(call.late_ == nullptr || !call.late_->waits);
  call.prepared_.Clear();
  if (call.ask == DecideCall::Ask::kAdhoc) {
    if (!ReachesAll(call.reach)) return call.prepared_.Fail(Code::kForbidden, kNoNamespace);
    PrepareAdhoc(call.adhoc, now, call.prepared_);
  } else if (!Reaches(call.reach, call.request.namespace_name)) {
    call.prepared_.Fail(Code::kForbidden, kNotThisNamespace, "namespace");
  } else {
    Prepare(rules, call.request, call.prepared_);
  }
}

When Limiter::Impl::FinishCall(const RulesInForce& rules, Instant told, Instant now,
                               DecideCall& call) {
  if (call.prepared_.remote && call.prepared_.error == Code::kOk) [[unlikely]] {
    return Route(rules, told, now, call);
  }
  switch (call.ask) {
    case DecideCall::Ask::kAdhoc:
      FinishAdhoc(call.adhoc, now, call.prepared_, call.decision);
      break;
    case DecideCall::Ask::kPeek:
      Finish(rules, call.request, Mode::kLook, now, call.prepared_, call.decision);
      break;
    case DecideCall::Ask::kRequest:
      Finish(rules, call.request, Mode::kTake, now, call.prepared_, call.decision);
      break;
  }
  return When::kNow;
}

When Limiter::Impl::Decide(DecideCall& call, Instant told) {
  __builtin_prefetch(call.request.subject.data());  // is read after the match
  const Instant now = time_.Of(told);
  const RulesInForce& rules = InForce();
  PrepareCall(rules, now, call);
  return FinishCall(rules, told, now, call);
}

size_t Limiter::Impl::Decide(std::span<DecideCall* const> calls, Instant told) {
  const Instant now = time_.Of(told);
  const RulesInForce& rules = InForce();
  size_t late = 0;
  for (; !calls.empty(); calls = calls.subspan(std::min(kBatch, calls.size()))) {
    const auto some = calls.first(std::min(kBatch, calls.size()));
    for (DecideCall* call : some) __builtin_prefetch(call->request.subject.data());
    for (DecideCall* call : some) PrepareCall(rules, now, *call);
    for (DecideCall* call : some) {
      late += FinishCall(rules, told, now, *call) == When::kLater ? 1 : 0;
    }
  }
  return late;
}

When Limiter::Impl::Route(const RulesInForce& rules, Instant told, Instant now, DecideCall& call) {
  if (call.late_ == nullptr) call.late_ = std::make_unique<DecideCall::Late>(*this, call);
  DecideCall::Late& late = *call.late_;
  const bool looks = call.ask == DecideCall::Ask::kPeek ||
                     (call.ask == DecideCall::Ask::kAdhoc && call.adhoc.cost == 0);
  late.limiter = this;
  late.charges = {call.prepared_.charges.data(), call.prepared_.charges.size()};
  late.want = looks ? Want::kLook : Want::kTake;
  late.now = now;
  late.deadline = DeadlineOf(told, call.patience);
  late.home = call.home;
  late.keeps_receipts = call.ask == DecideCall::Ask::kRequest && call.request.settle;
  if (router_.Admit(late)) {
    ConcludeRouted(rules, now, call);
    return When::kNow;
  }
  late.waits = true;
  late.rules = rules.shared_from_this();
  late.KeepSubject();
  return When::kLater;
}

void Limiter::Impl::ConcludeRouted(const RulesInForce& rules, Instant now, DecideCall& call) {
  DecideCall::Late& late = *call.late_;
  call.decision.Clear();
  if (call.ask == DecideCall::Ask::kAdhoc) {
    return ConcludeAdhoc(call.adhoc, late.admitted, call.prepared_, call.decision);
  }
  if (late.keeps_receipts && late.admitted.error == Code::kOk && late.admitted.allowed) {
    call.decision.ticket = IssueTicket(std::move(late.receipts), call.prepared_, now);
  }
  const Mode mode = call.ask == DecideCall::Ask::kPeek ? Mode::kLook : Mode::kTake;
  Conclude(rules, call.request, mode, late.admitted, now, call.prepared_, call.decision);
}

void Limiter::Impl::Answer(DecideCall& call, const Turn& now) {
  call.late_->waits = false;
  ConcludeRouted(*call.late_->rules, time_.Of(now), call);
  call.Answered(now);
}

void Limiter::Impl::Abandon(DecideCall& call, Instant told) {
  if (call.late_ == nullptr || !call.late_->waits) return;
  call.late_->waits = false;
  router_.Abandon(*call.late_, time_.Of(told));
}

// Under the rules that its caller sees: he may go on with them.
void Limiter::Impl::DecideWithoutWaiting(const RulesInForce& rules, const Request& request,
                                         Instant told, Instant now, Mode mode, Decision& decision) {
  thread_local DecideAtOnce call;
  call.ask = mode == Mode::kLook ? DecideCall::Ask::kPeek : DecideCall::Ask::kRequest;
  call.request = request;
  PrepareCall(rules, now, call);
  FinishCall(rules, told, now, call);
  decision = call.decision;
}

void Limiter::Impl::DecideAdhoc(const AdhocRequest& request, Instant told, Decision& decision) {
  DecideAtOnce call;
  call.ask = DecideCall::Ask::kAdhoc;
  call.adhoc = request;
  Decide(call, told);
  decision = call.decision;
}

// ---- Descriptors ----

void Limiter::Impl::DecideDescriptors(const DescriptorRequest& request, Instant told,
                                      DescriptorDecision& decision) {
  class AtOnce final : public DescriptorCall {
   public:
    void Answered(const Turn&) override { assert(false); }
  } call;
  call.request = request;
  std::swap(call.decision, decision);  // with its memory
  Decide(call, told);
  std::swap(call.decision, decision);
}

When Limiter::Impl::Decide(DescriptorCall& call, Instant told) {
  const Instant now = time_.Of(told);
  const RulesInForce& rules = InForce();
  assert(call.late_ == nullptr || !call.late_->waits);
  weir::PreparedDescriptors& prepared = call.prepared_;
  if (!Reaches(call.reach, call.request.domain)) [[unlikely]] {
    call.decision = {.error = Code::kForbidden, .message = kNotThisNamespace};
    return When::kNow;
  }
  if (!PrepareDescriptors(rules, call.request, now, prepared, call.decision)) return When::kNow;
  if (!prepared.remote) [[likely]] {
    Admitted admitted{.allowed = true};
    if (!prepared.charges.empty()) {
      admitted = store_.AdmitNow({prepared.charges.data(), prepared.charges.size()}, now);
    }
    // Nothing of a request that ends in an error stays: so what is given back comes last.
    if (admitted.error == Code::kOk) {
      for (Charge& refund : prepared.refunds) store_.Refund(refund, now);
    }
    ConcludeDescriptors(rules, admitted, prepared, call.decision);
    return When::kNow;
  }
  if (call.late_ == nullptr) call.late_ = std::make_unique<DescriptorCall::Late>(*this, call);
  DescriptorCall::Late& late = *call.late_;
  late.limiter = this;
  late.charges = {prepared.charges.data(), prepared.charges.size()};
  late.refunds = {prepared.refunds.data(), prepared.refunds.size()};
  late.now = now;
  late.deadline = DeadlineOf(told, call.patience);
  late.home = call.home;
  if (router_.Admit(late)) {
    ConcludeDescriptors(rules, late.admitted, prepared, call.decision);
    return When::kNow;
  }
  late.waits = true;
  late.rules = rules.shared_from_this();
  call.request = {};
  return When::kLater;
}

void Limiter::Impl::Answer(DescriptorCall& call, const Turn& now) {
  call.late_->waits = false;
  ConcludeDescriptors(*call.late_->rules, call.late_->admitted, call.prepared_, call.decision);
  call.Answered(now);
}

void Limiter::Impl::Abandon(DescriptorCall& call, Instant told) {
  if (call.late_ == nullptr || !call.late_->waits) return;
  call.late_->waits = false;
  router_.Abandon(*call.late_, time_.Of(told));
}

// ---- Settle ----

Result<Settled> Limiter::Impl::Settle(const SettleRequest& request, Instant told) {
  SettleAtOnce call;
  call.request = request;
  Settle(call, told);
  return call.answer;
}

// The remote store is asked first: what was taken here is settled once nothing can fail any more.
When Limiter::Impl::Settle(SettleCall& call, Instant told) {
  const auto& [ticket, cost, reach] = call.request;
  if (cost > kMostSettled) {
    call.answer = Error{Code::kBadRequest, "a cost is at most 2^53", "cost"};
    return When::kNow;
  }
  if (elsewhere_ && call.home != nullptr && !tickets_.IsOwn(ticket)) {
    call.elsewhere_ = std::make_shared<SettleCall::Elsewhere>(call);
    const auto ear = std::make_shared<SettleCall::Elsewhere::Ear>(call.elsewhere_);
    elsewhere_(call.request, [ear](const Result<Settled>& answer) { ear->Tell(answer); });
    return When::kLater;
  }
  const Instant now = time_.Of(told);
  const bool everywhere = ReachesAll(reach);
  std::vector<uint64_t> namespaces;
  if (!everywhere) {
    for (const std::string& ns : reach->namespaces) namespaces.push_back(hash_(ns).low);
  }
  std::optional<TicketBook::Closed> closed =
      tickets_.Close(ticket, now, everywhere ? nullptr : &namespaces);
  if (!closed) {
    call.answer = Error{Code::kUnknownTicket,
                        "no such ticket: it was settled, has expired, or never was", "ticket"};
    return When::kNow;
  }
  const auto is_remote = [](const Receipt& receipt) { return receipt.remote; };
  std::vector<Receipt>& receipts = closed->receipts;
  if (std::none_of(receipts.begin(), receipts.end(), is_remote)) [[likely]] {
    SettleHere(call, receipts, now);
    return When::kNow;
  }
  if (call.late_ == nullptr) call.late_ = std::make_unique<SettleCall::Late>(*this, call);
  SettleCall::Late& late = *call.late_;
  late.limiter = this;
  late.owner = closed->owner;
  late.ns = closed->ns;
  late.here.clear();
  late.remote.clear();
  for (Receipt& receipt : receipts) {
    (receipt.remote ? late.remote : late.here).push_back(std::move(receipt));
  }
  late.receipts = late.remote;
  late.cost = cost;
  late.now = now;
  late.deadline = DeadlineOf(told, call.patience);
  late.home = call.home;
  if (remote_->Settle(late)) {
    ConcludeSettle(call, now);
    return When::kNow;
  }
  if (call.home == nullptr) {
    remote_->Abandon(late);
    Reopen(call, now);
    return When::kNow;
  }
  late.waits = true;
  call.home->timers().Set(late, late.deadline);
  return When::kLater;
}

void Limiter::Impl::SettleHere(SettleCall& call, std::span<const Receipt> receipts, Instant now) {
  const SettledUse use = store_.SettleNow(receipts, call.request.cost, now);
  call.answer = Settled{use.charged, use.remaining};
}

void Limiter::Impl::ConcludeSettle(SettleCall& call, Instant now) {
  SettleCall::Late& late = *call.late_;
  if (late.error != Code::kOk) return Reopen(call, now);
  SettledUse use = store_.SettleNow(late.here, call.request.cost, now);
  use.Add(late.use);
  call.answer = Settled{use.charged, use.remaining};
}

// Nothing of a request that ends in an error stays: the ticket can be settled again.
void Limiter::Impl::Reopen(SettleCall& call, Instant now) {
  SettleCall::Late& late = *call.late_;
  std::vector<Receipt> receipts = std::move(late.here);
  std::move(late.remote.begin(), late.remote.end(), std::back_inserter(receipts));
  std::vector<Receipt> forgone;
  tickets_.Reopen(call.request.ticket, std::move(receipts), late.owner, late.ns, now, &forgone);
  CloseReceipts(forgone, now);
  call.answer = Error{Code::kUnavailable, std::string(MessageOf(Code::kUnavailable)), ""};
}

void Limiter::Impl::Answer(SettleCall& call, const Turn& now) {
  call.late_->waits = false;
  call.home->timers().Cancel(*call.late_);
  ConcludeSettle(call, time_.Of(now));
  call.Answered(now);
}

void Limiter::Impl::GiveUp(SettleCall& call, const Turn& now) {
  call.late_->waits = false;
  remote_->Abandon(*call.late_);
  Reopen(call, time_.Of(now));
  call.Answered(now);
}

void Limiter::Impl::Abandon(SettleCall& call, Instant told) {
  if (call.elsewhere_ != nullptr) {
    call.elsewhere_->Close();
    call.elsewhere_.reset();
  }
  if (call.late_ == nullptr || !call.late_->waits) return;
  call.late_->waits = false;
  call.home->timers().Cancel(*call.late_);
  remote_->Abandon(*call.late_);
  Reopen(call, time_.Of(told));
}

}  // namespace weir

// Requests that bring their own token bucket.
#include "limiter/limiter_impl.h"

namespace weir {

void Limiter::Impl::PrepareAdhoc(const AdhocRequest& request, Instant now, Prepared& prepared) {
  if (!adhoc_) {
    return prepared.Fail(Code::kBadRequest, "limits carried by requests are switched off");
  }
  if (request.key.size() > kLongestSubject) {
    return prepared.Fail(Code::kBadRequest, "the key is longer than 1024 bytes", "key");
  }
  if (request.burst == 0) return prepared.Fail(Code::kBadRequest, "the burst must be positive");
  const CarriedLimits::Numbers numbers{.limit = request.limit,
                                       .per = request.per.count(),
                                       .burst = request.burst,
                                       .remote = placement_.carried_remote(),
                                       .replication = adhoc_replication_};
  const LimitSlot* slot = CarriedSlot(numbers, now, prepared.error, prepared.message);
  if (slot == nullptr) return;
  const Key key = adhoc_salt_ ^ hash_(request.key);
  store_.Prefetch(key);
  prepared.remote = numbers.remote;
  prepared.charges.emplace_back(key, slot, request.cost, request.cost);
}

void Limiter::Impl::FinishAdhoc(const AdhocRequest& request, Instant now, Prepared& prepared,
                                Decision& decision) {
  decision.Clear();
  decision.error = prepared.error;
  decision.message = prepared.message;
  decision.field = prepared.field;
  if (prepared.error != Code::kOk) return;
  const std::span<Charge> charges(prepared.charges);
  ConcludeAdhoc(request,
                request.cost == 0 ? store_.PeekNow(charges, now) : store_.AdmitNow(charges, now),
                prepared, decision);
}

void Limiter::Impl::ConcludeAdhoc(const AdhocRequest& request, const Admitted& admitted,
                                  const Prepared& prepared, Decision& decision) {
  if (admitted.error != Code::kOk) {
    decision.error = admitted.error;
    decision.message = MessageOf(admitted.error);
    return;
  }
  if (request.cost > 0) adhoc_counts_.Add(admitted.allowed, admitted.granted);
  const Charge& charge = prepared.charges[0];
  decision.allowed = admitted.allowed;
  decision.degraded = admitted.degraded;
  decision.granted = admitted.granted;
  decision.retry_after = admitted.retry_after;
  decision.remaining = charge.remaining;
  decision.reset_after = charge.reset_after;
  decision.limit = "adhoc";
  LimitStatus& status = decision.AddLimit();
  status.name = decision.limit;
  status.limit = request.burst;
  status.per = request.per;
  status.capacity = request.burst;
  status.remaining = charge.remaining;
  status.reset_after = charge.reset_after;
  status.refused = charge.refused;
}

const LimitSlot* Limiter::Impl::CarriedSlot(const CarriedLimits::Numbers& numbers, Instant now,
                                            Code& error, std::string_view& message) {
  const bool bucket = numbers.burst != 0;
  if (!numbers.copies && (numbers.per <= 0 || (bucket && numbers.limit == 0))) {
    error = Code::kBadRequest;
    message = "the limit and its period must be positive";
    return nullptr;
  }
  // Within the bounds that Check() states, without making a limit of them first.
  constexpr uint64_t kMost = uint64_t{1} << 53;
  constexpr int64_t kLongest = int64_t{3653} * 24 * 3600 * 1'000'000'000;
  constexpr uint128 kLongestRefill = uint128{100} * 365 * 24 * 3600 * 1'000'000'000;
  const bool within = numbers.limit <= kMost && numbers.burst <= kMost && numbers.per <= kLongest;
  if (!within || (bucket && uint128{numbers.burst} * static_cast<uint64_t>(numbers.per) >
                                kLongestRefill * numbers.limit)) {
    error = Code::kBadRequest;
    message = "the limit is out of bounds: at most 2^53, in at most 10 years, refilled within 100";
    return nullptr;
  }
  const LimitSlot* slot = carried_.SlotFor(numbers, now);
  if (slot == nullptr) {
    error = Code::kOverloaded;
    message = "requests have brought too many different limits lately";
  }
  return slot;
}

}  // namespace weir

// A question to the limiter whose answer is sent to an HTTP client: at once, or later.
//
//   class Asked : public LateCall<DecideCall, Asked> { void Send(Responder&) const; … };
//   Asked::Ask(Asked::Pool().Take(), limiter, http, std::move(responder));
//
// While it waits a call belongs to itself; its connection takes other requests meanwhile.
#pragma once

#include <memory>
#include <optional>

#include "fronts/http/http_request.h"
#include "fronts/http/responder.h"
#include "limiter/call.h"
#include "limiter/call_pool.h"

namespace weir::http {

template <typename Call, typename Self>
class LateCall : public Call, public Waiter {
 public:
  static CallPool<Self>& Pool() {
    thread_local CallPool<Self> pool;
    return pool;
  }

  static void Ask(std::unique_ptr<Self> call, Limiter& limiter, const HttpRequest& http,
                  Responder responder) {
    call->home = http.link == nullptr ? nullptr : &http.link->executor();
    ReachOf(*call) = http.reach;
    if (AskLimiter(limiter, *call, http.now) == When::kNow) {
      call->Send(responder);
      return Pool().GiveBack(std::move(call));
    }
    Self& late = *call.release();
    late.limiter_ = &limiter;
    late.responder_.emplace(std::move(responder));
    late.responder_->Await(late);
  }

  void Answered(const Turn& /*now*/) override {
    Self& self = static_cast<Self&>(*this);
    Responder responder = std::move(*responder_);
    responder_.reset();
    self.Send(responder);
    Pool().GiveBack(std::unique_ptr<Self>(&self));
  }
  void Abandoned(const Turn& now) override {
    limiter_->Abandon(static_cast<Self&>(*this), now);
    responder_->Abandon();
    responder_.reset();
    Pool().GiveBack(std::unique_ptr<Self>(static_cast<Self*>(this)));
  }

 private:
  static const Reach*& ReachOf(DecideCall& call) { return call.reach; }
  static const Reach*& ReachOf(DescriptorCall& call) { return call.reach; }
  static const Reach*& ReachOf(SettleCall& call) { return call.request.reach; }
  static When AskLimiter(Limiter& limiter, DecideCall& call, Instant now) {
    return limiter.Decide(call, now);
  }
  static When AskLimiter(Limiter& limiter, DescriptorCall& call, Instant now) {
    return limiter.Decide(call, now);
  }
  static When AskLimiter(Limiter& limiter, SettleCall& call, Instant now) {
    return limiter.Settle(call, now);
  }

  Limiter* limiter_ = nullptr;
  std::optional<Responder> responder_;
};

}  // namespace weir::http

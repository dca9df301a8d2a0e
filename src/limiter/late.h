// What a call needs while it waits: the router's part, the rules that it was asked under, and copies of
// what its answer is made of.
#pragma once

#include <array>
#include <cstring>
#include <mutex>

#include "limiter/call.h"
#include "limiter/limiter_impl.h"
#include "store/router.h"

namespace weir {

class DecideCall::Late final : public Routing {
 public:
  Late(Limiter::Impl& the_limiter, DecideCall& the_call) : limiter(&the_limiter), call(the_call) {}

  void Routed(const Turn& now) override { limiter->Answer(call, now); }
  Instant TimeOf(const Turn& now) override { return limiter->TimeOf(now); }
  // The caller's bytes may go now.
  void KeepSubject() {
    // What a call that brings its own limit has there is of an earlier question.
    const bool has_one = call.ask != DecideCall::Ask::kAdhoc;
    const std::string_view from = has_one ? call.request.subject : std::string_view();
    if (!from.empty()) std::memmove(subject_.data(), from.data(), from.size());
    call.request = {.subject = {subject_.data(), from.size()},
                    .cost = call.request.cost,
                    .min_cost = call.request.min_cost,
                    .settle = call.request.settle};
    call.adhoc.key = {};
  }

  Limiter::Impl* limiter;
  DecideCall& call;
  std::shared_ptr<const RulesInForce> rules;
  bool waits = false;

 private:
  std::array<char, kLongestSubject> subject_;
};

class DescriptorCall::Late final : public Routing {
 public:
  Late(Limiter::Impl& the_limiter, DescriptorCall& the_call)
      : limiter(&the_limiter), call(the_call) {}

  void Routed(const Turn& now) override { limiter->Answer(call, now); }
  Instant TimeOf(const Turn& now) override { return limiter->TimeOf(now); }

  Limiter::Impl* limiter;
  DescriptorCall& call;
  std::shared_ptr<const RulesInForce> rules;
  bool waits = false;
};

class SettleCall::Late final : public Settlement, public Timer {
 public:
  Late(Limiter::Impl& the_limiter, SettleCall& the_call) : limiter(&the_limiter), call(the_call) {}

  void Done(const Turn& now) override { limiter->Answer(call, now); }
  void Due(const Turn& now) override { limiter->GiveUp(call, now); }

  Limiter::Impl* limiter;
  SettleCall& call;
  uint32_t owner = 0;
  uint64_t ns = 0;
  std::vector<Receipt> here, remote;
  bool waits = false;
};

// The way back from another node's answer, which comes on any thread, to a call that may be gone.
class SettleCall::Elsewhere : public std::enable_shared_from_this<SettleCall::Elsewhere> {
 public:
  explicit Elsewhere(SettleCall& call) : call_(&call) {}

  void Tell(const Result<Settled>& told) {
    const std::lock_guard lock(mutex_);
    if (call_ == nullptr || std::exchange(told_, true)) return;
    call_->home->Post([self = shared_from_this(), told](const Turn& now) {
      SettleCall* const call = self->Close();
      if (call == nullptr) return;
      call->answer = told;
      call->elsewhere_.reset();
      call->Answered(now);
    });
  }
  // What the other node's answer is given to. If it is dropped unused, that is an answer too.
  class Ear {
   public:
    explicit Ear(std::shared_ptr<Elsewhere> way) : way_(std::move(way)) {}
    ~Ear() { way_->Tell(Error{Code::kUnavailable, "the server ends", ""}); }
    Ear(const Ear&) = delete;
    Ear& operator=(const Ear&) = delete;
    void Tell(const Result<Settled>& told) { way_->Tell(told); }

   private:
    const std::shared_ptr<Elsewhere> way_;
  };
  // Who was to be told; nobody is, from now on.
  SettleCall* Close() {
    const std::lock_guard lock(mutex_);
    return std::exchange(call_, nullptr);
  }

 private:
  std::mutex mutex_;
  // Guarded by mutex_.
  SettleCall* call_;
  bool told_ = false;
};

}  // namespace weir

// Questions to the limiter whose answers may have to be waited for.
//
// Whoever asks owns the call, question and answer both, until it is answered:
//
//   call.request = …;
//   if (limiter.Decide(call, now) == When::kNow) use(call.decision);
//   else …                       call.Answered() follows, once, on the thread of `home`
//   limiter.Abandon(call, now)   … or never: the asker has gone, and the call may go too
//
// A call is used again for the next question, so that it allocates nothing where nothing waits, and once
// in its life where something does (call_pool.h keeps calls). Views in the question need to live only
// until Decide returns: what is needed later is copied. The names in a decision are valid until the call
// is used again.
#pragma once

#include <memory>

#include <absl/container/inlined_vector.h>

#include "base/executor.h"
#include "rules/rulebook.h"
#include "store/store.h"
#include "weir/limiter.h"

namespace weir {

enum class When : uint8_t { kNow, kLater };

// A request on its way: matched and hashed, its memory on the way to the cache.
struct Prepared {
  using Charges = absl::InlinedVector<Charge, 3>;  // one for each limit that is limited, in order

  Code error = Code::kOk;
  std::string_view message, field;
  Match match;
  Key subject;      // the hash of it
  uint64_t ns = 0;  // the hash of the namespace's name, where there may be a ticket
  Charges charges;
  bool remote = false;  // some of them are decided elsewhere

  void Clear() {
    error = Code::kOk;
    message = field = {};
    match = {};
    charges.clear();
    remote = false;
  }
  void Fail(Code code, std::string_view why, std::string_view at_fault = {}) {
    error = code;
    message = why;
    field = at_fault;
  }
};

class DecideCall {
 public:
  enum class Ask : uint8_t { kRequest, kPeek, kAdhoc };

  // `home`: the thread that asks; null: it cannot wait, and limits that would have to be waited for do
  // what they do on failure.
  explicit DecideCall(Executor* the_home = nullptr);
  virtual ~DecideCall();
  DecideCall(const DecideCall&) = delete;
  DecideCall& operator=(const DecideCall&) = delete;

  Ask ask = Ask::kRequest;
  Request request;     // of kRequest and kPeek
  AdhocRequest adhoc;  // of kAdhoc
  Duration patience =
      kNever;  // is not awaited for longer than this; nor than the limiter's deadline
  Executor* home;
  const Reach* reach = nullptr;  // of whoever asks; null: everything

  Decision decision;

  // The answer is there. Only if Decide said kLater.
  virtual void Answered(const Turn& now) = 0;
  bool waits() const;

 private:
  friend class Limiter::Impl;
  class Late;
  Prepared prepared_;
  std::unique_ptr<Late> late_;  // what waits; made when something has to wait for the first time
};

// The descriptors of one request on their way.
struct PreparedDescriptors {
  struct Asked {
    DescriptorMatch match;
    size_t charge = SIZE_MAX;  // among the charges; SIZE_MAX: nothing to charge
    size_t refund = SIZE_MAX;  // among the refunds; SIZE_MAX: nothing to give back
    bool carried = false;      // it brought its own limit
  };
  using Charges = absl::InlinedVector<Charge, 4>;

  absl::InlinedVector<Asked, 4> asked;
  Charges charges;
  Charges refunds;
  bool remote = false;

  void Clear() {
    asked.clear();
    charges.clear();
    refunds.clear();
    remote = false;
  }
};

class DescriptorCall {
 public:
  explicit DescriptorCall(Executor* the_home = nullptr);
  virtual ~DescriptorCall();
  DescriptorCall(const DescriptorCall&) = delete;
  DescriptorCall& operator=(const DescriptorCall&) = delete;

  DescriptorRequest request;
  Duration patience = kNever;
  Executor* home;
  const Reach* reach = nullptr;  // a domain is a namespace

  DescriptorDecision decision;

  virtual void Answered(const Turn& now) = 0;

 private:
  friend class Limiter::Impl;
  class Late;
  PreparedDescriptors prepared_;
  std::unique_ptr<Late> late_;
};

class SettleCall {
 public:
  explicit SettleCall(Executor* the_home = nullptr);
  virtual ~SettleCall();
  SettleCall(const SettleCall&) = delete;
  SettleCall& operator=(const SettleCall&) = delete;

  SettleRequest request;  // with a reach of its own
  Duration patience = kNever;
  Executor* home;

  Result<Settled> answer = Settled{};

  virtual void Answered(const Turn& now) = 0;

 private:
  friend class Limiter::Impl;
  class Late;
  class Elsewhere;
  std::unique_ptr<Late> late_;            // receipts that a remote store settles
  std::shared_ptr<Elsewhere> elsewhere_;  // a ticket that another node settles
};

}  // namespace weir

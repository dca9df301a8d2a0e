// A store that answers later: on a following turn of the asker's thread, as one does that has to be
// asked over a network. What it answers is what another store decides then.
//
//   Later later(memory);               on the next turn
//   Later later(memory, 1ms);          so long after it was asked, in the order of asking
//
// It shows, before there is any such store, that everything that asks can wait; whoever cannot wait is
// told that nothing was decided.
#pragma once

#include <memory>

#include <absl/container/flat_hash_map.h>

#include "base/executor.h"
#include "store/store.h"

namespace weir::lab {

class Later : public Store {
 public:
  explicit Later(Store& store, Duration delay = {}) : store_(store), delay_(delay) {}

  bool Admit(Admission& admission) override { return Ask(admission); }
  void Abandon(Admission& admission) override { Forget(admission); }
  bool Settle(Settlement& settlement) override { return Ask(settlement); }
  void Abandon(Settlement& settlement) override { Forget(settlement); }
  void Close(std::span<const Receipt> receipts, Instant now) override {
    store_.Close(receipts, now);
  }
  void Cancel(std::span<Receipt> receipts, uint64_t keep, Instant now) override {
    store_.Cancel(receipts, keep, now);
  }
  StoreStats Stats() const override { return store_.Stats(); }

 private:
  static bool Carry(Store& store, Admission& admission) { return store.Admit(admission); }
  static bool Carry(Store& store, Settlement& settlement) { return store.Settle(settlement); }
  static Code& ErrorOf(Admission& admission) { return admission.admitted.error; }
  static Code& ErrorOf(Settlement& settlement) { return settlement.error; }

  // A question that is being awaited, on one thread.
  template <typename Question>
  struct Waiting final : Timer {
    Waiting(Later& the_later, Question& the_question)
        : later(the_later), question(the_question), timers(the_question.home->timers()) {}
    void Due(const Turn& now) override { later.Answer(*this, now); }

    Later& later;
    Question& question;
    Timers& timers;
  };
  // Of the calling thread, for all stores: questions have addresses of their own.
  template <typename Question>
  static auto& Awaited() {
    thread_local absl::flat_hash_map<const Question*, std::unique_ptr<Waiting<Question>>> awaited;
    return awaited;
  }

  template <typename Question>
  bool Ask(Question& question) {
    if (question.home == nullptr) {
      ErrorOf(question) = Code::kUnavailable;
      return true;
    }
    auto& waiting = Awaited<Question>()[&question];
    waiting = std::make_unique<Waiting<Question>>(*this, question);
    waiting->timers.Set(*waiting, After(question.now, delay_));
    return false;
  }

  template <typename Question>
  void Forget(Question& question) {
    const auto found = Awaited<Question>().find(&question);
    if (found == Awaited<Question>().end()) return;
    found->second->timers.Cancel(*found->second);
    Awaited<Question>().erase(found);
  }

  template <typename Question>
  void Answer(Waiting<Question>& waiting, const Turn& now) {
    Question& question = waiting.question;
    Awaited<Question>().erase(&question);  // `waiting` is gone
    question.now = std::max(question.now, now.at());
    if (Carry(store_, question)) question.Done(now);
  }

  Store& store_;
  const Duration delay_;
};

}  // namespace weir::lab

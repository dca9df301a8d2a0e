// A store that answers later: on a following turn of the asker's thread, as one does that has to be
// asked over a network. What it answers is what another store decides then.
//
//   Later later(memory);               as soon as the thread runs what is due
//   Later later(memory, 1ms);          so long after it was asked, in the order of asking
//
// It shows, before there is any such store, that everything that asks can wait; whoever cannot wait is
// told that nothing was decided. What is asked past its deadline is not carried out.
//
// In steady state it allocates nothing: each thread keeps the places of those who wait for the next. So
// whoever measures a request over it measures the waiting.
#pragma once

#include <memory>
#include <vector>

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
  void Reduce(std::span<Receipt> receipts, uint64_t keep, Instant now) override {
    store_.Reduce(receipts, keep, now);
  }
  void Cancel(std::span<const Receipt> receipts, Instant now) override {
    store_.Cancel(receipts, now);
  }
  void Tick(Instant now) override { store_.Tick(now); }
  StoreStats Stats() const override { return store_.Stats(); }

 private:
  static bool Carry(Store& store, Admission& admission) { return store.Admit(admission); }
  static bool Carry(Store& store, Settlement& settlement) { return store.Settle(settlement); }
  static void SayAway(Admission& admission) { admission.admitted = {.error = Code::kUnavailable}; }
  static void SayAway(Settlement& settlement) { settlement.error = Code::kUnavailable; }

  // A place for a question that is awaited.
  template <typename Question>
  struct Waiting final : Timer {
    void Due(const Turn& now) override { later->Answer(*this, now); }

    Later* later = nullptr;
    Question* question = nullptr;
    Timers* timers = nullptr;
  };
  // Of the calling thread, for all stores: questions have addresses of their own.
  template <typename Question>
  struct Places {
    using Place = std::unique_ptr<Waiting<Question>>;
    absl::flat_hash_map<const Question*, Place> awaited;
    std::vector<Place> free;

    static Places& Own() {
      thread_local Places own;
      return own;
    }
    // Its question is not awaited any more.
    void Leave(const Question& question) {
      const auto found = awaited.find(&question);
      free.push_back(std::move(found->second));
      awaited.erase(found);
    }
  };

  template <typename Question>
  bool Ask(Question& question) {
    if (question.home == nullptr) {
      SayAway(question);
      return true;
    }
    auto& places = Places<Question>::Own();
    if (places.free.empty()) places.free.push_back(std::make_unique<Waiting<Question>>());
    auto& place = places.awaited[&question];
    assert(place == nullptr);  // is asked already
    place = std::move(places.free.back());
    places.free.pop_back();
    place->later = this;
    place->question = &question;
    place->timers = &question.home->timers();
    place->timers->Set(*place, After(question.now, delay_));
    return false;
  }

  template <typename Question>
  void Forget(Question& question) {
    auto& places = Places<Question>::Own();
    const auto found = places.awaited.find(&question);
    if (found == places.awaited.end()) return;
    found->second->timers->Cancel(*found->second);
    places.Leave(question);
  }

  template <typename Question>
  void Answer(Waiting<Question>& waiting, const Turn& now) {
    Question& question = *waiting.question;
    Places<Question>::Own().Leave(question);
    question.now = std::max(question.now, now.at());
    if (question.now > question.deadline) {
      SayAway(question);
    } else if (!Carry(store_, question)) {
      return;
    }
    question.Done(now);
  }

  Store& store_;
  const Duration delay_;
};

}  // namespace weir::lab

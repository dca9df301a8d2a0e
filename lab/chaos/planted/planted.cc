#include "lab/chaos/planted/planted.h"

#include "lab/chaos/planted/liars.h"
#include "lab/chaos/subjects.h"
#include "replication/ticks.h"

namespace weir::chaos {
namespace {

template <typename Wrong>
Subject Behind(EnvelopeKind kind) {
  return {[real = RealSubject(kind)](const Scenario& s, Origin self, Instant now) {
    return std::make_unique<Wrong>(real.make(s, self, now), self);
  }};
}

Subject ForgivesDebt() {
  return {[real = RealSubject(EnvelopeKind::kDebt)](const Scenario& s, Origin self, Instant now) {
    return std::make_unique<DebtForgiven>(real.make(s, self, now), self, s.limits);
  }};
}

// Made as if what is remembered were so long.
Subject Remembers(EnvelopeKind kind, Duration memory) {
  return {[real = RealSubject(kind), memory](const Scenario& s, Origin self, Instant now) {
    Scenario other{.seed = s.seed, .kind = s.kind, .timing = s.timing};
    other.timing.memory = memory;
    return real.make(other, self, now);
  }};
}

Subject SameNameInEveryLife(EnvelopeKind kind) {
  Subject subject = RealSubject(kind);
  subject.new_life_new_name = false;
  return subject;
}

}  // namespace

std::vector<Envelope> DebtForgiven::Receive(std::string_view bytes, Instant now, bool& good) {
  std::vector<Envelope> out = Liar::Receive(bytes, now, good);
  for (uint32_t key = 0; key < limits_.size(); ++key) {
    const int128 level = Level(KeyOf(key), limits_[key], now);
    if (level < 0) Refund(KeyOf(key), Ticks(limits_[key]).Tokens(-level) + 1, now);
  }
  return out;
}

std::vector<PlantedBug> PlantedBugs() {
  using enum EnvelopeKind;
  return {
      {"merge-adds", "what is told again is added to what was known", kCounter,
       Behind<MergeAdds>(kCounter)},
      {"debt-forgiven", "debt beyond the capacity is let off", kDebt, ForgivesDebt()},
      {"epoch-lost", "the greatest epoch instead of the least", kDebt, Behind<EpochLost>(kDebt)},
      {"same-name", "a node comes back without memory under its old name", kDebt,
       SameNameInEveryLife(kDebt)},
      {"refund-twice", "a refund is counted twice", kQueue, Behind<RefundTwice>(kQueue)},
      {"no-grace", "rows of an ended period are dropped at once", kDebt,
       Remembers(kDebt, std::chrono::milliseconds(100))},
      {"no-margin", "elements are dropped when they die", kQueue, Remembers(kQueue, Duration(0))},
      {"any-life", "what came from one life is acknowledged to the next", kDebt,
       Behind<AnyLifeAcknowledged>(kDebt)},
      {"number-reused", "two envelopes bear one number", kQueue, Behind<NumberReused>(kQueue)},
      {"age-zero", "ages are sent as zero", kQueue, Behind<AgeZero>(kQueue)},
      {"overwrites-others", "a node writes the rows of others", kCounter,
       Behind<OverwritesOthers>(kCounter)},
      {"refilled-twice", "the limit is refilled twice", kCounter, Behind<RefilledTwice>(kCounter)},
      {"equal-births", "requests of one stamp are taken for one", kQueue,
       Behind<EqualBirthsMerged>(kQueue)},
      {"window-leaks", "a window's count is told as the next one's", kDebt,
       Behind<WindowLeaks>(kDebt)},
      {"window-cut-short", "others forget a window soon", kDebt, Behind<WindowCutShort>(kDebt)},
      {"window-stays", "a window is kept long after its end", kDebt, Behind<WindowStays>(kDebt)},
      {"refund-moves", "a refund goes to another window than was charged", kDebt,
       Behind<RefundMoves>(kDebt)},
      {"log-refills", "a log is refilled like a bucket", kQueue, Behind<LogRefills>(kQueue)},
      {"never-sleeps", "asks to be ticked at once, always", kCounter,
       Behind<NeverSleeps>(kCounter)},
      {"never-forgets", "idle subjects are kept", kDebt,
       Remembers(kDebt, std::chrono::hours(24 * 365))},
  };
}

}  // namespace weir::chaos

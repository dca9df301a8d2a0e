// Whatever is asked of a store, in whatever order: it decides as this process's memory does.
#include <gtest/gtest.h>

#include "tests/store/contract.h"

namespace weir::contract_random_test {
namespace {

using testing::KeyOf;
using testing::kStart;

template <typename Kind>
class StoreContractAtRandom : public testing::StoreContract<Kind> {};
TYPED_TEST_SUITE(StoreContractAtRandom, testing::Stores, testing::StoreNames);

// Whatever is asked, a store of its own comes to the same: limits of every kind, several at once, some
// of them twice, in shadow, as quotas, looked at, refunded, settled, cancelled, replaced.
TYPED_TEST(StoreContractAtRandom, DecidesAsMemoryDoesWhateverIsAsked) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    MemoryStore model(testing::Mib(16), Instant{});
    struct Slots {
      const LimitSlot *here, *there;
    };
    std::vector<Slots> slots;
    Instant now = kStart;
    const auto add = [&](const Limit& limit) {
      return Slots{this->Add(limit, now), model.limits().Add(limit, SlotTraits{}, now)};
    };
    for (int i = 0; i < 4; ++i) slots.push_back(add(testing::RandomLimit(random)));
    std::vector<std::pair<Receipt, Receipt>> open;
    for (int step = 0; step < 80; ++step) {
      now += Duration(random.Below(3) == 0 ? random.Below(400'000'000) : random.Below(1000));
      if (random.Below(40) == 0) {
        const size_t i = random.Below(slots.size());
        const Slots next = add(testing::RandomLimit(random));
        this->memory_.limits().Replace(slots[i].here, slots[i].here->serial, next.here, now);
        model.limits().Replace(slots[i].there, slots[i].there->serial, next.there, now);
        slots[i] = next;
      }
      if (!open.empty() && random.Below(3) == 0) {
        const size_t i = random.Below(open.size());
        auto& [here, there] = open[i];
        const uint64_t keep = random.Below(here.taken + 1), settled = random.Below(8);
        switch (random.Below(4)) {
          case 0: {
            const SettledUse use = this->asker_.Settle({&here, 1}, settled, now);
            const SettledUse expected = model.SettleNow({&there, 1}, settled, now);
            ASSERT_EQ(use.charged, expected.charged);
            ASSERT_EQ(use.remaining, expected.remaining);
            break;
          }
          case 1:
            this->store().Close({&here, 1}, now);
            model.Close({&there, 1}, now);
            break;
          case 2:
            this->store().Cancel({&here, 1}, now);
            model.Cancel({&there, 1}, now);
            break;
          default:
            this->store().Reduce({&here, 1}, keep, now);
            model.Reduce({&there, 1}, keep, now);
            ASSERT_EQ(here.taken, there.taken);
            continue;
        }
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      const uint64_t cost = random.Below(6), least = cost == 0 ? 0 : random.Below(cost + 1);
      const bool quotas = random.Below(4) == 0, receipts = random.Below(3) == 0;
      std::vector<Charge> here, there, back_here, back_there;
      for (size_t i = 0; i < 1 + random.Below(4); ++i) {
        const uint64_t which = random.Below(slots.size());
        const bool shadow = random.Below(4) == 0;
        const auto charge = [&](const LimitSlot* slot) {
          Charge one(KeyOf(seed * 100 + which), slot, cost, least, shadow);
          one.quota = quotas && !shadow;
          return one;
        };
        here.push_back(charge(slots[which].here));
        there.push_back(charge(slots[which].there));
      }
      std::vector<Receipt> left_here(here.size()), left_there(here.size());
      for (size_t i = 0; receipts && i < here.size(); ++i) {
        here[i].receipt = &left_here[i];
        there[i].receipt = &left_there[i];
      }
      if (random.Below(5) == 0) {
        const uint64_t which = random.Below(slots.size()), n = random.Below(4);
        back_here.emplace_back(KeyOf(seed * 100 + which), slots[which].here, n, n);
        back_there.emplace_back(KeyOf(seed * 100 + which), slots[which].there, n, n);
      }
      const Want want = receipts || random.Below(3) != 0 ? Want::kTake : Want::kLook;
      const Admitted admitted = this->asker_.Admit(here, now, want, back_here);
      testing::Question expected;
      expected.charges = there;
      expected.refunds = back_there;
      expected.want = want;
      expected.now = now;
      ASSERT_TRUE(model.Admit(expected));
      ASSERT_EQ(admitted.error, expected.admitted.error);
      ASSERT_EQ(admitted.allowed, expected.admitted.allowed);
      ASSERT_EQ(admitted.granted, expected.admitted.granted);
      ASSERT_EQ(admitted.retry_after, expected.admitted.retry_after);
      for (size_t i = 0; i < here.size(); ++i) {
        ASSERT_EQ(here[i].refused, there[i].refused);
        ASSERT_EQ(here[i].taken, there[i].taken);
        ASSERT_EQ(here[i].remaining, there[i].remaining);
        ASSERT_EQ(here[i].reset_after, there[i].reset_after);
        ASSERT_TRUE(!here[i].refused || here[i].wait == there[i].wait);
        if (left_here[i].limit == nullptr) continue;
        ASSERT_EQ(left_here[i].taken, left_there[i].taken);
        ASSERT_EQ(left_here[i].rejected, left_there[i].rejected);
        open.emplace_back(left_here[i], left_there[i]);
      }
      for (size_t i = 0; i < back_here.size(); ++i) {
        ASSERT_EQ(back_here[i].remaining, back_there[i].remaining);
      }
    }
    for (const auto& [here, there] : open) this->store().Close({&here, 1}, now);
    for (const Slots& slot : slots) ASSERT_EQ(slot.here->tickets, 0u);
  }
}

}  // namespace
}  // namespace weir::contract_random_test

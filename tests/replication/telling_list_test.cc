#include "replication/telling_list.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "base/random.h"

namespace weir::telling_list_test {
namespace {

RC_GTEST_PROP(TellingList, IsAMapFromNumbersThatOnlyGrow, ()) {
  TellingList list;
  std::map<uint64_t, uint64_t> model;  // segment by number
  const auto steps = *rc::gen::container<std::vector<uint32_t>>(rc::gen::arbitrary<uint32_t>());
  for (const uint32_t step : steps) {
    if (step % 3 != 0 || model.empty()) {
      const uint64_t last = list.last();
      const uint64_t number = list.Add({{step, 1}}, {2, 3}, step + 1ull);
      RC_ASSERT(number == last + 1);
      model[number] = step + 1ull;
    } else {
      const uint64_t number = 1 + step % list.last();  // some are gone already
      list.Remove(number);
      model.erase(number);
    }
    const uint64_t after = step % (list.last() + 1);
    std::map<uint64_t, uint64_t> rest;
    list.After(after, [&](const TellingList::Entry& entry) {
      if (!entry.gone()) rest[entry.number] = entry.segment;
      return true;
    });
    RC_ASSERT(rest == (std::map<uint64_t, uint64_t>(model.upper_bound(after), model.end())));
  }
}

// Of many chunks, in whatever order they empty.
TEST(TellingList, IsTheSameInChunks) {
  Random random(1);
  TellingList list;
  std::map<uint64_t, uint64_t> model;
  std::vector<uint64_t> there;
  for (int i = 0; i < 40'000; ++i) {
    const bool shrinks = i % 10'000 > 6'000;
    if (there.empty() || random.Below(10) < (shrinks ? 1 : 9)) {
      there.push_back(list.Add({{1, 1}}, {2, 3}, static_cast<uint64_t>(i) + 1));
      model[there.back()] = static_cast<uint64_t>(i) + 1;
    } else {
      std::swap(there[random.Below(there.size())], there.back());
      list.Remove(there.back());
      model.erase(there.back());
      there.pop_back();
    }
    if (i % 100 != 0) continue;
    const uint64_t after = random.Below(list.last() + 2);
    auto expected = model.upper_bound(after);
    uint64_t before = after;
    list.After(after, [&](const TellingList::Entry& entry) {
      EXPECT_GT(entry.number, std::exchange(before, entry.number));
      if (entry.gone()) return true;
      EXPECT_TRUE(expected != model.end() && expected->first == entry.number &&
                  expected->second == entry.segment);
      return expected != model.end() && ++expected != model.end();
    });
    ASSERT_TRUE(expected == model.end());
    ASSERT_LE(list.bytes(),
              (3 * model.size() + 2 * TellingList::kChunk) * sizeof(TellingList::Entry));
  }
}

TEST(TellingList, WhatIsGoneTakesNoRoom) {
  TellingList list;
  for (uint64_t i = 1; i <= 10'000; ++i) list.Remove(list.Add({{i, i}}, {0, 1}, i));
  EXPECT_LT(list.bytes(), 100 * sizeof(TellingList::Entry));
}

}  // namespace
}  // namespace weir::telling_list_test

#include "replication/telling_list.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

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
    for (const TellingList::Entry& entry : list.After(after)) {
      if (!entry.gone()) rest[entry.number] = entry.segment;
    }
    RC_ASSERT(rest == (std::map<uint64_t, uint64_t>(model.upper_bound(after), model.end())));
  }
}

TEST(TellingList, WhatIsGoneTakesNoRoom) {
  TellingList list;
  for (uint64_t i = 1; i <= 10'000; ++i) list.Remove(list.Add({{i, i}}, {0, 1}, i));
  EXPECT_LT(list.bytes(), 100 * sizeof(TellingList::Entry));
}

}  // namespace
}  // namespace weir::telling_list_test

// A node's state copied in slices, with whatever may happen between two of them.
#include "replication/copy.h"

#include <gtest/gtest.h>

#include <map>

#include "replication/counter_replica.h"
#include "replication/debt_replica.h"
#include "replication/queue_replica.h"
#include "tests/replication/cluster.h"
#include "tests/replication/everything.h"

namespace weir::copy_test {
namespace {

// What is known of a key, by row: what was taken, and given back.
using Rows = std::map<std::tuple<uint32_t, uint32_t, uint64_t>, std::pair<uint64_t, uint64_t>>;

Rows RowsOf(const Replica& replica, const StateName& name) {
  Rows rows;
  if (const auto* counter = dynamic_cast<const CounterReplica*>(&replica)) {
    const auto* found = counter->Find(name.key);
    if (found == nullptr) return rows;
    for (const CounterReplica::Row& row : *found) {
      rows[{row.origin.node, row.origin.incarnation, 0}] = {row.consumed, row.refunded};
    }
  } else if (const auto* queue = dynamic_cast<const QueueReplica*>(&replica)) {
    const TokenQueue* found = queue->Find(name.key);
    if (found == nullptr) return rows;
    for (const Element& one : found->elements()) {
      const auto& [origin, sequence] = one.name;
      rows[{origin.node, origin.incarnation, sequence}] = {one.weight, one.refunded};
    }
  } else {
    const DebtRows* found = dynamic_cast<const DebtReplica&>(replica).Find(name);
    if (found == nullptr) return rows;
    for (const DebtRows::Row& row : found->rows()) {
      rows[{row.origin.node, row.origin.incarnation, row.segment}] = {row.charged, row.refunded};
    }
  }
  return rows;
}

struct Kind {
  const char* name;
  std::function<std::unique_ptr<Replica>(Origin self)> make;
  ReplicatedBucket bucket;
};

constexpr Origin kGiver{0, 1}, kOther{1, 1}, kNewcomer{2, 5};
constexpr uint64_t kLow = 0x9e3779b97f4a7c15;

Key KeyNumber(uint64_t i) { return {i, i * kLow}; }

class Copy : public ::testing::TestWithParam<Kind> {
 protected:
  std::unique_ptr<Replica> Make(Origin self) const {
    std::unique_ptr<Replica> replica = GetParam().make(self);
    replica->SetPeers({0, 1, 2});
    return replica;
  }
  StateName Name(uint64_t i) const { return {KeyNumber(i), GetParam().bucket.window}; }
  void Use(Replica& replica, uint64_t i, uint64_t cost) {
    replica.Take(KeyNumber(i), GetParam().bucket, cost, now_);
  }
  // Of rows, those that count: where nothing is taken from what there is, a node need not know of any.
  Rows Counting(Replica& replica, uint64_t i) {
    const ReplicatedBucket& bucket = GetParam().bucket;
    Rows rows = RowsOf(replica, Name(i));
    const bool full =
        replica.Level(KeyNumber(i), bucket, now_) == Ticks(bucket).Of(bucket.capacity);
    std::erase_if(rows, [&](const auto& row) { return full || row.second.first == 0; });
    return rows;
  }
  static void Hear(Replica& replica, const std::vector<Envelope>& envelopes, Instant now) {
    for (const Envelope& envelope : envelopes) {
      bool good = false;
      replica.Receive(envelope.bytes, now, good);
      EXPECT_TRUE(good);
    }
  }

  Instant now_ = kStart;
};

TEST_P(Copy, NoSliceIsLargerThanItMayBe) {
  constexpr uint64_t kKeys = 5'000;
  const auto giver = Make(kGiver), newcomer = Make(kNewcomer);
  for (uint64_t i = 0; i < kKeys; ++i) Use(*giver, i, 1);
  for (const SliceSize most : {SliceSize{.keys = 1}, SliceSize{.bytes = 3'000, .around = 3},
                               SliceSize{.keys = 100'000, .bytes = 20'000, .around = 50}}) {
    CopyCursor cursor;
    size_t keys = 0;
    for (bool last = false; !last;) {
      const Slice slice = giver->Everything(2, cursor, most, now_);
      size_t bytes = 0;
      for (const Envelope& envelope : slice.envelopes) {
        EXPECT_EQ(envelope.to, 2u);
        EXPECT_LE(envelope.bytes.size(), kMostEnvelopeBytes);
        bytes += envelope.bytes.size() + most.around;
      }
      ASSERT_LE(bytes, most.bytes);
      ASSERT_LE(slice.keys, most.keys);
      ASSERT_TRUE(slice.keys > 0 || slice.last);
      keys += slice.keys;
      last = slice.last;
      Hear(*newcomer, slice.envelopes, now_);
    }
    EXPECT_EQ(keys, kKeys);
  }
  for (uint64_t i = 0; i < kKeys; ++i) {
    EXPECT_EQ(RowsOf(*newcomer, Name(i)), RowsOf(*giver, Name(i)));
  }
}

// Whether all fits a datagram is learnt by writing no more than a datagram.
TEST_P(Copy, WhatFitsOneSliceIsWhole) {
  const auto giver = Make(kGiver);
  CopyCursor empty;
  EXPECT_TRUE(giver->Everything(2, empty, {.bytes = 0}, now_).last) << "nothing takes no room";
  Use(*giver, 1, 1);
  CopyCursor one;
  EXPECT_TRUE(giver->Everything(2, one, {.bytes = 300}, now_).last);
  CopyCursor none;
  const Slice nothing = giver->Everything(2, none, {.bytes = 20}, now_);
  EXPECT_TRUE(!nothing.last && nothing.envelopes.empty());
  for (uint64_t i = 0; i < 100; ++i) Use(*giver, i, 1);
  CopyCursor first;
  EXPECT_FALSE(giver->Everything(2, first, {.bytes = kMostEnvelopeBytes}, now_).last);
}

// One key may have rows of very many lives.
TEST_P(Copy, AKeyOfManyRowsIsCutTooAndLosesNone) {
  const auto giver = Make(kGiver), newcomer = Make(kNewcomer);
  for (uint32_t life = 1; life <= 600; ++life) {
    const auto other = Make({1, life});
    now_ += 1ms;
    Use(*other, 7, life);
    Hear(*giver, Everything(*other, 0, now_), now_);
  }
  CopyCursor cursor;
  size_t slices = 0;
  for (bool last = false; !last; ++slices) {
    const Slice slice = giver->Everything(2, cursor, {.bytes = kMostEnvelopeBytes}, now_);
    EXPECT_LE(slice.envelopes.size(), 1u);
    Hear(*newcomer, slice.envelopes, now_);
    last = slice.last;
    // Others come and move: a row that was heard of later, from before.
    const auto more = Make({1, 1000 + static_cast<uint32_t>(slices)});
    Use(*more, 7, 1);
    now_ += 3ms;
    Hear(*giver, Everything(*more, 0, now_), now_);
  }
  EXPECT_GE(slices, 3u);
  const Rows there = RowsOf(*newcomer, Name(7));
  for (uint32_t life = 1; life <= 600; ++life) {
    EXPECT_TRUE(std::any_of(there.begin(), there.end(), [&](const auto& row) {
      return std::get<1>(row.first) == life && row.second.first == life;
    })) << life;
  }
}

class CopyOfWhatEnds : public Copy {};

TEST_P(CopyOfWhatEnds, AfterAKeyThatIsForgottenHalfwayTheNextIsWhole) {
  const auto giver = Make(kGiver), newcomer = Make(kNewcomer);
  for (const uint64_t i : {1u, 2u}) {  // the second is the first to be written, and to be over
    for (uint32_t life = 1; life <= 300; ++life) {
      const auto other = Make({1, life});
      Use(*other, i, i == 1 ? 400 : 1);
      Hear(*giver, Everything(*other, 0, now_), now_);
    }
  }
  CopyCursor cursor;
  const SliceSize most{.bytes = kMostEnvelopeBytes};
  Hear(*newcomer, giver->Everything(2, cursor, most, now_).envelopes, now_);
  ASSERT_TRUE(cursor.row);
  for (int i = 0; i < 350; ++i) {
    now_ += 1s;
    do giver->Tick(now_);
    while (giver->NextTick() <= now_);
  }
  ASSERT_TRUE(RowsOf(*giver, Name(2)).empty());
  for (bool last = false; !last;) {
    const Slice slice = giver->Everything(2, cursor, most, now_);
    Hear(*newcomer, slice.envelopes, now_);
    last = slice.last;
  }
  const auto knows_all = Make(kNewcomer);
  Hear(*knows_all, Everything(*giver, 2, now_), now_);
  EXPECT_EQ(RowsOf(*newcomer, Name(1)), RowsOf(*knows_all, Name(1)));
  EXPECT_GT(RowsOf(*knows_all, Name(1)).size(), 200u);
}

// Of a node that hears nothing but the copy. States come, change and are forgotten meanwhile.
TEST_P(Copy, WhatWasThereAtTheStartAndStillCountsIsInIt) {
  size_t rows = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed);
    now_ = kStart;
    const auto giver = Make(kGiver), other = Make(kOther), newcomer = Make(kNewcomer);
    const uint64_t keys = 5 + random.Below(60);
    const auto change = [&] {
      now_ += Duration(std::chrono::milliseconds(random.Below(400)));
      const uint64_t i = random.Below(keys);
      switch (random.Below(6)) {
        case 0: giver->Refund(Name(i), 1 + random.Below(3), now_); break;
        case 1: Hear(*giver, Everything(*other, 0, now_), now_); break;
        case 2: Use(*other, i, 1 + random.Below(3)); break;
        case 3: giver->Tick(now_); break;  // what is over is forgotten
        default: Use(*giver, i, 1 + random.Below(3));
      }
    };
    for (int i = 0; i < 150; ++i) change();
    std::vector<Rows> stay;  // as they were at the start, while they are there
    for (uint64_t i = 0; i < keys; ++i) stay.push_back(RowsOf(*giver, Name(i)));
    const auto drop = [&](const Replica& replica) {
      for (uint64_t i = 0; i < keys; ++i) {
        const Rows now = RowsOf(replica, Name(i));
        std::erase_if(stay[i], [&](const auto& row) { return !now.contains(row.first); });
      }
    };
    CopyCursor cursor;
    for (bool last = false; !last;) {
      const Slice slice =
          giver->Everything(2, cursor, {.keys = 1 + random.Below(4), .bytes = 1'300}, now_);
      Hear(*newcomer, slice.envelopes, now_);
      last = slice.last;
      for (uint64_t changes = random.Below(6); changes > 0 && !last; --changes) {
        change();
        drop(*giver);
      }
    }
    const auto knows_all = Make(kNewcomer);  // but not what is so old that nobody takes it in
    Hear(*knows_all, Everything(*giver, 2, now_), now_);
    drop(*knows_all);
    for (uint64_t i = 0; i < keys; ++i) {
      const Rows there = RowsOf(*newcomer, Name(i));
      rows += stay[i].size();
      for (const auto& [row, numbers] : stay[i]) {
        const auto found = there.find(row);
        ASSERT_TRUE(found != there.end()) << "key " << i << ", seed " << seed;
        EXPECT_GE(found->second, numbers) << "key " << i << ", seed " << seed;
      }
    }
  }
  EXPECT_GT(rows, 200u);
}

// With the gossip that all hear, which may be lost, doubled and late: in the end all know the same.
TEST_P(Copy, WhatChangesMeanwhileComesByGossip) {
  for (uint64_t seed = 0; seed < 25; ++seed) {
    Random random(seed);
    now_ = kStart;
    std::vector<std::unique_ptr<Replica>> nodes;
    nodes.push_back(Make(kGiver));
    nodes.push_back(Make(kOther));
    for (const auto& node : nodes) node->SetPeers({0, 1});
    std::vector<Envelope> flying;
    const uint64_t keys = 5 + random.Below(40);
    const auto pass = [&](Duration d) {
      for (const Instant end = now_ + d; now_ < end; now_ += 5ms) {
        for (const auto& node : nodes) {
          if (node->NextTick() > now_) continue;
          for (Envelope& one : node->Tick(now_)) flying.push_back(std::move(one));
        }
        std::shuffle(flying.begin(), flying.end(), random);
        const size_t come = flying.size() - random.Below(1 + flying.size() / 4);
        for (size_t i = 0; i < come; ++i) {
          const Envelope one = flying.back();
          flying.pop_back();
          const uint64_t fate = random.Below(10);
          if (fate == 0 || one.to >= nodes.size()) continue;
          for (int times = fate == 1 ? 2 : 1; times > 0; --times) {
            bool good = false;
            for (Envelope& answer : nodes[one.to]->Receive(one.bytes, now_, good)) {
              flying.push_back(std::move(answer));
            }
          }
        }
      }
    };
    const auto change = [&](size_t by) {
      Replica& node = *nodes[by];
      const uint64_t i = random.Below(keys);
      if (random.Below(4) == 0) {
        node.Refund(Name(i), 1 + random.Below(2), now_);
      } else {
        Use(node, i, 1 + random.Below(3));
      }
    };
    for (int i = 0; i < 100; ++i) {
      change(random.Below(2));
      pass(20ms);
    }
    nodes.push_back(Make(kNewcomer));
    for (const auto& node : nodes) node->SetPeers({0, 1, 2});
    CopyCursor cursor;
    for (bool last = false; !last;) {
      const Slice slice = nodes[0]->Everything(2, cursor, {.keys = 2, .bytes = 1'300}, now_);
      Hear(*nodes[2], slice.envelopes, now_);
      last = slice.last;
      for (int i = 0; i < 3; ++i) change(random.Below(3));
      pass(Duration(std::chrono::milliseconds(random.Below(30))));
    }
    pass(40s);
    for (uint64_t i = 0; i < keys; ++i) {
      const Rows first = Counting(*nodes[0], i);
      EXPECT_EQ(Counting(*nodes[1], i), first) << "key " << i << ", seed " << seed;
      EXPECT_EQ(Counting(*nodes[2], i), first) << "key " << i << ", seed " << seed;
    }
  }
}

// It is not among those that are told news yet; all the more it has to know what was.
TEST_P(Copy, OfOneThatIsNoPeerYetIsWholeToo) {
  const auto giver = GetParam().make(kGiver);
  const auto newcomer = Make(kNewcomer);
  giver->SetPeers({0, 1});
  Use(*giver, 1, 3);
  Hear(*newcomer, Everything(*giver, 2, now_), now_);
  EXPECT_EQ(RowsOf(*newcomer, Name(1)), RowsOf(*giver, Name(1)));
}

// Nothing is kept for a copy that nobody takes to its end.
TEST_P(Copy, LeavesNothingBehind) {
  const auto giver = Make(kGiver);
  for (uint64_t i = 0; i < 1'000; ++i) Use(*giver, i, 1);
  const size_t before = giver->bytes();
  for (int i = 0; i < 10; ++i) {
    CopyCursor cursor;
    giver->Everything(2, cursor, {.bytes = 5'000}, now_);
  }
  EXPECT_EQ(giver->bytes(), before);
}

template <typename Kept, typename Options>
auto With(const Options& options) {
  return [options](Origin self) { return std::make_unique<Kept>(self, options); };
}
std::unique_ptr<Replica> Debt(Origin self) {
  return std::make_unique<DebtReplica>(self, DebtOptions{.patience = 300ms, .heartbeat = 500ms},
                                       kStart);
}

const Kind kShortQueue{"ShortQueue", With<QueueReplica>(QueueOptions{.margin = 1s}), {1000, 1, 1s}};
const Kind kShortDebt{"ShortDebt", Debt, {1000, 1, 1s}};
std::string NameOf(const ::testing::TestParamInfo<Kind>& kind) { return kind.param.name; }

INSTANTIATE_TEST_SUITE_P(Kinds, CopyOfWhatEnds, ::testing::Values(kShortQueue, kShortDebt), NameOf);
INSTANTIATE_TEST_SUITE_P(
    Kinds, Copy,
    ::testing::Values(
        Kind{"Counter", With<CounterReplica>(CounterOptions{}), {1000, 1, 1h}},
        Kind{"WholeCounter",
             With<CounterReplica>(CounterOptions{.whole_buckets = true}),
             {1000, 1, 1h}},
        Kind{"Queue", With<QueueReplica>(QueueOptions{.linf = true, .margin = 10s}), {1000, 1, 1h}},
        kShortQueue, Kind{"Log", With<QueueReplica>(QueueOptions{.margin = 10s}), {1000, 0, 1h}},
        Kind{"Debt", Debt, {1000, 1, 1h}}, kShortDebt, Kind{"Window", Debt, {1000, 0, 1h, 9}}),
    NameOf);

}  // namespace
}  // namespace weir::copy_test

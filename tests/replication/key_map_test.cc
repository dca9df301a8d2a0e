#include "replication/key_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"

namespace weir {
namespace {

TEST(KeyMap, IsAMapWhateverComesAndGoes) {
  Random random(1);
  KeyMap<int> map;
  std::map<uint64_t, int> model;
  for (int i = 0; i < 200'000; ++i) {
    // Few different low bits, so that probes run into one another.
    const Key key{random.Below(4), random.Below(i % 50'000 < 25'000 ? 300 : 30) * 3};
    const uint64_t name = key.high * 100'000 + key.low;
    if (random.Below(2) == 0) {
      map[key] = i;
      model[name] = i;
    } else {
      map.erase(key);
      model.erase(name);
    }
    ASSERT_EQ(map.size(), model.size());
    const auto it = model.find(name);
    ASSERT_EQ(map.contains(key), it != model.end());
    if (it == model.end()) continue;
    ASSERT_EQ(map.at(key), it->second);
  }
  for (const auto& [key, value] : map) EXPECT_EQ(model.at(key.high * 100'000 + key.low), value);
}

// With entries that come and go between the steps.
TEST(KeyMap, WhoGoesBackwardsSeesEveryEntryThatStays) {
  Random random(2);
  for (int round = 0; round < 300; ++round) {
    KeyMap<int> map;
    std::map<uint64_t, bool> stays;
    const uint64_t keys = 1 + random.Below(60);
    for (uint64_t i = 0; i < keys; ++i) stays[i] = map.try_emplace(Key{i, i % 7}).second;
    std::map<uint64_t, bool> seen;
    for (size_t left = SIZE_MAX; const auto* entry = map.Before(left); --left) {
      seen[entry->first.high] = true;
      for (uint64_t changes = random.Below(4); changes > 0; --changes) {
        const uint64_t i = random.Below(2 * keys);
        if (random.Below(3) == 0) {
          map[Key{i, i % 7}] = 1;
        } else {
          map.erase(Key{i, i % 7});
          stays.erase(i);
        }
      }
    }
    for (const auto& [i, was] : stays) EXPECT_TRUE(seen.contains(i)) << "round " << round;
  }
}

// Counts what is done to it: so a test need not measure time.
struct Counted {
  static inline size_t moves = 0, hashes = 0;

  Counted() = default;
  Counted(Counted&&) noexcept { moves += 1; }
  Counted& operator=(Counted&&) noexcept {
    moves += 1;
    return *this;
  }
};
struct CountingHash {
  size_t operator()(const Key& key) const {
    Counted::hashes += 1;
    return key.low;
  }
};

TEST(KeyMap, NoChangeTakesLongerTheMoreThereAre) {
  constexpr uint64_t kKeys = 200'000;
  KeyMap<Counted, Key, CountingHash> map;
  const auto bounded = [](const auto& change) {
    Counted::moves = Counted::hashes = 0;
    change();
    EXPECT_LE(Counted::moves, 600u);
    EXPECT_LE(Counted::hashes, 1100u);
  };
  Random random(3);
  std::vector<Key> keys;
  for (uint64_t i = 0; i < kKeys; ++i) keys.push_back({i, random.Below(UINT64_MAX)});
  for (const Key& key : keys) bounded([&] { map.try_emplace(key); });
  EXPECT_EQ(map.size(), kKeys);
  std::shuffle(keys.begin(), keys.end(), random);
  for (const Key& key : keys) bounded([&] { map.erase(key); });
  EXPECT_TRUE(map.empty());
}

// Nobody can bring this about from outside, for hashes are keyed; it is slow, but right.
TEST(KeyMap, KeysMayAllHaveOneHash) {
  KeyMap<uint64_t> map;
  for (uint64_t i = 0; i < 3000; ++i) map[{i, 7}] = i;
  for (uint64_t i = 0; i < 3000; ++i) EXPECT_EQ(map.at({i, 7}), i);
  for (uint64_t i = 0; i < 3000; ++i) map.erase(Key{i, 7});
  EXPECT_TRUE(map.empty());
}

TEST(KeyMap, IsAMapWhenItIsLarge) {
  Random random(4);
  KeyMap<uint64_t> map;
  std::map<uint64_t, uint64_t> model;
  for (uint64_t i = 0; i < 400'000; ++i) {
    const uint64_t name = random.Below(60'000);
    const Key key{name, name * 0x9e3779b97f4a7c15};
    if (random.Below(10) < (i / 100'000 % 2 == 0 ? 8u : 2u)) {
      map[key] = model[name] = i;
    } else {
      map.erase(key);
      model.erase(name);
    }
    ASSERT_EQ(map.size(), model.size());
  }
  for (uint64_t name = 0; name < 60'000; ++name) {
    const auto found = map.find(Key{name, name * 0x9e3779b97f4a7c15});
    const auto it = model.find(name);
    ASSERT_EQ(found != map.end(), it != model.end());
    if (it == model.end()) continue;
    ASSERT_EQ(found->second, it->second);
  }
}

TEST(KeyMap, GivesBackWhatItDoesNotNeed) {
  KeyMap<int> map;
  for (uint64_t i = 0; i < 10'000; ++i) map[{i, i * 0x9e3779b97f4a7c15}] = 1;
  const size_t full = map.bytes();
  for (uint64_t i = 0; i < 10'000; ++i) map.erase(Key{i, i * 0x9e3779b97f4a7c15});
  EXPECT_TRUE(map.empty());
  EXPECT_LT(map.bytes(), full / 50);
}

}  // namespace
}  // namespace weir

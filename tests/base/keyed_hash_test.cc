#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::keyed_hash_test {
namespace {

constexpr std::array<uint64_t, 2> kSecret = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

// The reference vectors of SipHash-2-4 with 128 bits, for the key 00 01 02 … 0f.
TEST(SipHash, EqualsTheReferenceWithTwoAndFourRounds) {
  EXPECT_EQ((SipHash<2, 4>(kSecret).Finish()), (Key{0xe6a825ba047f81a3, 0x930255c71472f66d}));
  EXPECT_EQ((SipHash<2, 4>(kSecret).Finish(0x00, 1)),
            (Key{0x44af996bd8c187da, 0x45fc229b11597634}));
  SipHash<2, 4> eight(kSecret);
  eight.Word(0x0706050403020100);
  EXPECT_EQ(eight.Finish(), (Key{0x61f55862baa9623b, 0xb49714f364e2830f}));
  SipHash<2, 4> fifteen(kSecret);
  fifteen.Word(0x0706050403020100);
  EXPECT_EQ(fifteen.Finish(0x0e0d0c0b0a0908, 7), (Key{0x11a8b03399e99354, 0xd9c3cf970fec087e}));
}

// Computed by another implementation of SipHash-1-3: what names a state must never change.
TEST(KeyedHash, OfOnePartIsTheStandardHashOfItsBytes) {
  const KeyedHash hash(kSecret);
  EXPECT_EQ(hash(""), (Key{0xbea58827b2bc7ee7, 0x013030dd6adb62fd}));
  EXPECT_EQ(hash("user-17"), (Key{0xf6bef3769def548f, 0xd200e6b0c2ca8742}));
  EXPECT_EQ(hash("user-00000000000000000001"), (Key{0x0b28417a9838e79b, 0x23f500c3861822fa}));
}

TEST(KeyedHash, TellsListsOfPartsApart) {
  const KeyedHash hash(kSecret);
  using Parts = std::vector<std::string>;
  EXPECT_FALSE(hash.OfAll(Parts{"a_b", "c"}) == hash.OfAll(Parts{"a", "b_c"}));
  EXPECT_FALSE(hash.OfAll(Parts{"ab"}) == hash.OfAll(Parts{"a", "b"}));
  EXPECT_FALSE(hash.OfAll(Parts{"a", ""}) == hash.OfAll(Parts{"a"}));
  EXPECT_FALSE(hash.OfAll(Parts{std::string("a\0", 2)}) == hash.OfAll(Parts{"a"}));
  EXPECT_FALSE(hash.OfAll(Parts{}) == hash.OfAll(Parts{""}));
}

TEST(KeyedHash, DependsOnEveryByteAndOnTheSecret) {
  for (size_t length = 0; length < 40; ++length) {
    const std::string text(length, 'x');
    const Key key = KeyedHash(kSecret)(text);
    EXPECT_FALSE(key == KeyedHash({1, 2})(text));
    EXPECT_FALSE(key == KeyedHash(kSecret)(text + '\0'));
    for (size_t i = 0; i < length; ++i) {
      std::string other = text;
      other[i] = 'y';
      EXPECT_FALSE(key == KeyedHash(kSecret)(other)) << length << " " << i;
    }
  }
}

}  // namespace
}  // namespace weir::keyed_hash_test

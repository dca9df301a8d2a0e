#include "cli/size_text.h"

#include <gtest/gtest.h>

namespace weir::size_text_test {
namespace {

TEST(SizeText, IsRead) {
  EXPECT_EQ(ParseSize("0"), 0u);
  EXPECT_EQ(ParseSize("65536"), 65536u);
  EXPECT_EQ(ParseSize("512MiB"), 512u << 20);
  EXPECT_EQ(ParseSize("512mb"), 512u << 20);
  EXPECT_EQ(ParseSize("2G"), uint64_t{2} << 30);
  EXPECT_EQ(ParseSize("1.5k"), 1536u);
  EXPECT_EQ(ParseSize("7B"), 7u);
}

TEST(SizeText, RefusesWhatIsNoSize) {
  for (const char* text : {"", "-1", "-1MiB", "1 MiB", "MiB", ".5k", "1.k", "1.2.3k", "1x", "1bib",
                           "99999999999999999999", "99999999999T", "1e3", "0x10", "+1"}) {
    EXPECT_EQ(ParseSize(text), std::nullopt) << text;
  }
}

TEST(SizeText, IsWrittenAndReadBack) {
  EXPECT_EQ(SizeText(0), "0B");
  EXPECT_EQ(SizeText(1000), "1000B");
  EXPECT_EQ(SizeText(uint64_t{1} << 30), "1GiB");
  EXPECT_EQ(SizeText(uint64_t{3} << 29), "1536MiB");
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{1} << 40, uint64_t{1} << 52, UINT64_MAX}) {
    EXPECT_EQ(ParseSize(SizeText(bytes)), bytes);
  }
}

}  // namespace
}  // namespace weir::size_text_test

// Who may do what: the table of the documentation is the one that is in force.
#include "server/access.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace weir::access_test {
namespace {

constexpr Operation kAll[] = {Operation::kHealth,      Operation::kDescribe, Operation::kDecide,
                              Operation::kProxyDecide, Operation::kCarried,  Operation::kMetrics,
                              Operation::kStatistics,  Operation::kCluster,  Operation::kReadConfig,
                              Operation::kWriteConfig};

// The operations that are allowed, as a string of 0 and 1 in their order.
std::string Allowed(const Access& access, const Asker& who, std::string_view ns) {
  std::string bits;
  for (const Operation what : kAll) bits += access.May(what, ns, who) ? '1' : '0';
  return bits;
}

Tokens Some() {
  return *Tokens::Parse(
      "r read shop\nw write shop\nra read *\nwa write *\nd decide *\nds decide shop\nm metrics *\n"
      "two decide shop\ntwo read bank\n",
      "tokens");
}

TEST(Access, WithoutATokenFileThisMachineMayAndOthersDecide) {
  const Access access({});
  EXPECT_EQ(Allowed(access, {.local = true}, "shop"), "1111111111");
  EXPECT_EQ(Allowed(access, {}, "shop"), "1111110000");
  EXPECT_EQ(Allowed(access, {.token = "x"}, ""), "1111110000");
}

TEST(Access, WithOneATokenMayWhatItsRoleSays) {
  Access access({});
  access.Use(Some());
  EXPECT_EQ(Allowed(access, {.local = true}, "shop"), "1100000000") << "like others";
  EXPECT_EQ(Allowed(access, {.token = "wrong"}, "shop"), "1100000000");
  EXPECT_EQ(Allowed(access, {.token = "r"}, "shop"), "1111001110");
  EXPECT_EQ(Allowed(access, {.token = "r"}, "other"), "1100000000");
  EXPECT_EQ(Allowed(access, {.token = "r"}, ""), "1100000000");
  EXPECT_EQ(Allowed(access, {.token = "w"}, "shop"), "1111001111");
  EXPECT_EQ(Allowed(access, {.token = "w"}, ""), "1100000000");
  EXPECT_EQ(Allowed(access, {.token = "ra"}, ""), "1111111110");
  EXPECT_EQ(Allowed(access, {.token = "wa"}, ""), "1111111111");
  EXPECT_EQ(Allowed(access, {.token = "d"}, "shop"), "1111100000");
  EXPECT_EQ(Allowed(access, {.token = "ds"}, "shop"), "1111000000");
  EXPECT_EQ(Allowed(access, {.token = "ds"}, "other"), "1100000000");
  EXPECT_EQ(Allowed(access, {.token = "two"}, "shop"), "1111000000");
  EXPECT_EQ(Allowed(access, {.token = "two"}, "bank"), "1111001110") << "by its other line";
  EXPECT_EQ(Allowed(access, {.token = "m"}, "shop"), "1100010000");
  EXPECT_EQ(access.WhyNot({.token = "ds"}), Code::kForbidden);
  EXPECT_EQ(access.WhyNot({.token = "m"}), Code::kForbidden);
  EXPECT_EQ(access.WhyNot({.token = "wrong"}), Code::kUnauthenticated);
  EXPECT_EQ(access.WhyNot({.local = true}), Code::kUnauthenticated);
  EXPECT_TRUE(access.MaySomewhere(Operation::kReadConfig, {.token = "r"}));
  EXPECT_FALSE(access.MaySomewhere(Operation::kWriteConfig, {.token = "r"}));
  EXPECT_FALSE(access.MaySomewhere(Operation::kReadConfig, {.token = "d"}));
}

TEST(Access, DecisionsAndMetricsCanBeLeftOpen) {
  Access access({.decisions_open = true, .metrics_open = true});
  access.Use(Some());
  EXPECT_EQ(Allowed(access, {}, "shop"), "1111110000");
  EXPECT_TRUE(access.decisions_open());
  EXPECT_TRUE(access.ReachOf("ds")->all) << "a token takes nothing away";
}

TEST(Access, TheDocumentationHasTheTable) {
  std::stringstream text;
  text << std::ifstream(WEIR_SOURCE_DIR "/docs/serving.md").rdbuf();
  ASSERT_EQ(AccessTable().size(), std::size(kAll));
  for (size_t i = 0; i < std::size(kAll); ++i) {
    const AccessRow& row = AccessTable()[i];
    EXPECT_EQ(row.what, kAll[i]);
    const std::string line = "| " + std::string(row.name) + " | " + std::string(row.without) +
                             " | " + std::string(row.with_token) + " |\n";
    EXPECT_NE(text.str().find(line), std::string::npos) << "docs/serving.md lacks:\n" << line;
    // What the words say without a file is what is so.
    const Access access({});
    EXPECT_EQ(access.May(row.what, "", {}), row.without == "everybody");
  }
}

class TokenFile : public ::testing::Test {
 protected:
  TokenFile() {
    std::string name = ::testing::TempDir() + "weir-tokens-XXXXXX";
    directory_ = mkdtemp(name.data());
    path_ = directory_ + "/tokens";
  }
  ~TokenFile() override { std::filesystem::remove_all(directory_); }
  void Write(const std::string& text, mode_t mode) {
    std::ofstream(path_) << text;
    ASSERT_EQ(chmod(path_.c_str(), mode), 0);
  }

  std::string directory_, path_;
};

TEST_F(TokenFile, ThatOthersMayWriteIsRefused) {
  for (const mode_t mode : {0600u, 0644u, 0400u}) {
    Write("a write *\n", mode);
    EXPECT_TRUE(Tokens::Load(path_)) << mode;
  }
  for (const mode_t mode : {0620u, 0602u, 0666u, 0664u}) {
    Write("a write *\n", mode);
    const Result<Tokens> tokens = Tokens::Load(path_);
    ASSERT_FALSE(tokens) << mode;
    EXPECT_NE(tokens.error().message.find("chmod go-w"), std::string::npos);
  }
}

TEST_F(TokenFile, IsReadAgainAndABadOneChangesNothing) {
  Access access({.token_file = path_});
  EXPECT_TRUE(access.Load());
  Write("a write *\n", 0600);
  EXPECT_FALSE(access.Load());
  const uint64_t version = access.version().load();
  EXPECT_TRUE(access.May(Operation::kWriteConfig, "", {.token = "a"}));
  Write("b write *\n", 0600);
  EXPECT_FALSE(access.Load());
  EXPECT_FALSE(access.May(Operation::kWriteConfig, "", {.token = "a"}));
  EXPECT_TRUE(access.May(Operation::kWriteConfig, "", {.token = "b"}));
  EXPECT_GT(access.version().load(), version);
  for (const char* bad : {"", "c", "c read", "c admin *", "c read * x", "c metrics shop"}) {
    Write(bad, 0600);
    EXPECT_TRUE(access.Load()) << bad;
    EXPECT_TRUE(access.May(Operation::kWriteConfig, "", {.token = "b"}));
  }
}

}  // namespace
}  // namespace weir::access_test

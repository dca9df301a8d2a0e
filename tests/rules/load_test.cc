// Files and directories.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/rules/rules_text.h"

namespace weir::load_test {
namespace {

class Load : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "weir_load_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::ofstream(Path(name)) << text;
  }
  const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
};

constexpr char kA[] = "namespaces: {a: {resources: {x: {}}}}\n";
constexpr char kB[] = "namespaces: {b: {resources: {x: {}}}}\n";

std::string NamesOf(const ParseResult& result) {
  std::string names;
  if (!result.ok()) return ToString(result.errors);
  for (const auto& ns : result.rules->namespaces()) names += ns.terms.name + " ";
  return names;
}

TEST_F(Load, AFile) {
  Write("rules.txt", kA);
  EXPECT_EQ(NamesOf(LoadRulesPath(Path("rules.txt"))), "a ");
}

TEST_F(Load, ADirectoryInOrderOfName) {
  Write("20.yaml", kA);
  Write("10.yaml", kB);
  Write("other.txt", "namespaces: 5");
  Write(".hidden.yaml", "namespaces: 5");
  Write("below/30.yaml", "namespaces: 5");
  EXPECT_EQ(NamesOf(LoadRulesPath(folder())), "b a ");
  EXPECT_EQ(NamesOf(LoadRulesPath(folder() + "/")), "b a ");
}

TEST_F(Load, ANamespaceInTwoFilesIsToldAtBothPlaces) {
  Write("1.yaml", kA);
  Write("2.yaml", std::string("\n") + kA);
  const ParseResult result = LoadRulesPath(folder());
  ASSERT_EQ(result.errors.size(), 2u) << ToString(result.errors);
  EXPECT_EQ(result.rules, nullptr);
  EXPECT_EQ(
      ToString(result.errors[0])
          .find(Path("1.yaml") + ":1:14: namespace `a` is also in " + Path("2.yaml") + ":2:14"),
      0u)
      << ToString(result.errors[0]);
  EXPECT_EQ(
      ToString(result.errors[1])
          .find(Path("2.yaml") + ":2:14: namespace `a` is also in " + Path("1.yaml") + ":1:14"),
      0u);
}

TEST_F(Load, MistakesOfAllFilesAreTold) {
  Write("1.yaml", "namespaces: 5\n");
  Write("2.yaml", kA);
  Write("3.yaml", "namespaces: {a: [\n");
  const ParseResult result = LoadRulesPath(folder());
  ASSERT_EQ(result.errors.size(), 2u) << ToString(result.errors);
  EXPECT_EQ(result.errors[0].file, Path("1.yaml"));
  EXPECT_EQ(result.errors[1].file, Path("3.yaml"));
  EXPECT_EQ(result.rules, nullptr);
}

TEST_F(Load, WhatIsNotThereIsTold) {
  EXPECT_EQ(NamesOf(LoadRulesPath(Path("none.yaml"))),
            Path("none.yaml") + ": cannot be read: No such file or directory\n");
  EXPECT_EQ(NamesOf(LoadRulesPath(folder())), folder() + ": has no *.yaml in it\n");
}

TEST_F(Load, AHugeFileIsNotRead) {
  Write("big.yaml", "");
  std::filesystem::resize_file(Path("big.yaml"), (size_t{16} << 20) + 1);
  EXPECT_TRUE(Has(NamesOf(LoadRulesPath(Path("big.yaml"))), "at most 16 MiB"));
}

TEST_F(Load, RatelimitFilesOneDomainEach) {
  Write("a.yaml", "domain: a\ndescriptors: [{key: k}]\n");
  Write("b.yaml", "domain: b\n");
  EXPECT_EQ(NamesOf(LoadRatelimitConfig(folder())), "a b ");
  EXPECT_EQ(NamesOf(LoadRatelimitConfig(Path("a.yaml"))), "a ");
  Write("c.yaml", "domain: a\n");
  const ParseResult result = LoadRatelimitConfig(folder());
  EXPECT_EQ(result.errors.size(), 2u) << ToString(result.errors);
}

TEST_F(Load, BothKindsTogether) {
  Write("rules.yaml", kA);
  Write("ratelimit/b.yaml", "domain: b\n");
  EXPECT_EQ(NamesOf(LoadAllRules(Path("rules.yaml"), Path("ratelimit"))), "a b ");
  Write("ratelimit/a.yaml", "domain: a\n");
  EXPECT_EQ(LoadAllRules(Path("rules.yaml"), Path("ratelimit")).errors.size(), 2u);
}

TEST_F(Load, NormalisationsNameTheirFile) {
  Write("1.yaml", kA);
  Write("2.yaml", "namespaces: {b: {resources: {x: {copies: {per_subject: 9, total: 5}}}}}\n");
  const ParseResult result = LoadRulesPath(folder());
  ASSERT_EQ(result.changes.size(), 1u);
  EXPECT_EQ(result.changes[0].file, Path("2.yaml"));
  EXPECT_EQ(result.changes[0].line, 1u);
}

}  // namespace
}  // namespace weir::load_test

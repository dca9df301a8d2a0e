// The repository is held to its own style. That each check can fail is shown in planted_test.cc.
#include <gtest/gtest.h>

#include <functional>

#include "tests/style/folder_cycles.h"
#include "tests/style/forbidden_calls.h"
#include "tests/style/include_arrows.h"
#include "tests/style/kept_instants.h"
#include "tests/style/layout.h"
#include "tests/style/source_file.h"

namespace weir::style::repository_test {
namespace {

const std::vector<SourceFile>& Repository() {
  static const std::vector<SourceFile> files = ReadRepository(WEIR_SOURCE_DIR);
  return files;
}

bool IsCpp(const SourceFile& file) {
  return EndsWith(file.path, ".h") || EndsWith(file.path, ".cc");
}

Findings OverCpp(const std::function<Findings(const SourceFile&)>& check) {
  Findings all;
  for (const SourceFile& file : Repository()) {
    if (!IsCpp(file)) continue;
    const Findings found = check(file);
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

void ExpectNone(const Findings& findings) {
  for (const Finding& finding : findings) ADD_FAILURE() << finding.ToString();
}

TEST(Repository, IsNotEmpty) { EXPECT_GT(Repository().size(), 20u); }

TEST(Repository, IncludesFollowTheArrowsOfTheMap) { ExpectNone(OverCpp(CheckIncludes)); }

TEST(Repository, NoFoldersNeedEachOther) { ExpectNone(CheckFolderCycles(Repository())); }

TEST(Repository, TimeChanceAndEnvironmentAreArguments) { ExpectNone(OverCpp(CheckForbiddenCalls)); }

TEST(Repository, NoInstantOutlivesItsTurn) { ExpectNone(OverCpp(CheckKeptInstants)); }

TEST(Repository, HeadersAreGuardedByPragmaOnce) { ExpectNone(OverCpp(CheckGuard)); }

TEST(Repository, NoReminderIsLeftStanding) {
  for (const SourceFile& file : Repository()) ExpectNone(CheckLeftovers(file));
}

TEST(Repository, FilesAreShort) { ExpectNone(OverCpp(CheckLength)); }

TEST(Repository, CodeIsFormatted) {
  const std::string formatter = FindFormatter();
  if (formatter.empty()) GTEST_SKIP() << "clang-format 14 is not installed";
  std::vector<std::string> paths;
  for (const SourceFile& file : Repository()) {
    if (IsCpp(file)) paths.push_back(file.path);
  }
  ExpectNone(CheckForm(formatter, WEIR_SOURCE_DIR, paths));
}

TEST(Repository, EveryExemptionHasAReasonAndAPlace) {
  for (const Exemption& exemption : Exemptions()) {
    EXPECT_FALSE(exemption.reason.empty()) << exemption.path;
    if (EndsWith(exemption.path, "/")) continue;
    bool exists = false;
    for (const SourceFile& file : Repository()) exists = exists || file.path == exemption.path;
    EXPECT_TRUE(exists) << exemption.path << " is exempt but does not exist";
  }
}

TEST(Repository, EveryKeptInstantHasAReasonAndAPlace) {
  for (const KeptInstant& kept : KeptInstants()) {
    EXPECT_FALSE(kept.reason.empty()) << kept.path;
    bool exists = false;
    for (const SourceFile& file : Repository()) exists = exists || file.path == kept.path;
    EXPECT_TRUE(exists) << kept.path << " is listed but does not exist";
  }
}

}  // namespace
}  // namespace weir::style::repository_test

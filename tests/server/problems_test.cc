#include "server/problems.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

namespace weir::problems_test {
namespace {

using Json = nlohmann::json;

class ProblemsTest : public ::testing::Test {
 protected:
  ProblemsTest() { log_->set_pattern("%l %v"); }
  Json Health() { return Json::parse(HealthJson(problems_)); }
  // What was logged since it was last asked.
  std::string Logged() {
    std::string text = out_.str();
    out_.str("");
    return text;
  }

  std::ostringstream out_;
  std::shared_ptr<spdlog::logger> log_ = std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(out_));
  ManualClock clock_{FromNanos(1'000'000'000'000'000'000)};
  Problems problems_{clock_, log_};
};

TEST_F(ProblemsTest, AProblemIsToldOnceAndHasASince) {
  EXPECT_EQ(HealthJson(problems_), "{\"ready\":true,\"problems\":[]}\n");
  problems_.Raise(ProblemKind::kDatabaseAway, "start it");
  clock_.Advance(std::chrono::seconds(5));
  problems_.Raise(ProblemKind::kDatabaseAway, "start it");
  EXPECT_EQ(Logged(), "warning database_away: start it\n");
  EXPECT_EQ(Health(), Json({{"ready", true},
                            {"problems",
                             {{{"code", "database_away"},
                               {"message", "start it"},
                               {"since", "2001-09-09T01:46:40+00:00"}}}}}));
  problems_.Raise(ProblemKind::kDatabaseAway, "mend it");
  EXPECT_EQ(Logged(), "warning database_away: mend it\n");
  EXPECT_EQ(Health()["problems"][0]["since"], "2001-09-09T01:46:40+00:00") << "the first";
  problems_.Clear(ProblemKind::kDatabaseAway);
  problems_.Clear(ProblemKind::kDatabaseAway);
  EXPECT_EQ(Logged(), "info database_away is over: mend it\n");
  EXPECT_EQ(Health()["problems"], Json::array());
}

TEST_F(ProblemsTest, OnlySomeKindsMakeAServerUnready) {
  for (size_t i = 0; i < kProblemTraits.size(); ++i) {
    const auto kind = static_cast<ProblemKind>(i);
    problems_.Raise(kind, "so");
    const std::string_view code = TraitsOf(kind).code;
    const bool stops = code == "no_rules" || code == "joining" || code == "draining";
    EXPECT_EQ(problems_.ready(), !stops) << code;
    EXPECT_EQ(Health()["ready"], !stops) << code;
    problems_.Clear(kind);
    EXPECT_TRUE(problems_.ready());
  }
}

TEST_F(ProblemsTest, SeveralOfAKindAreToldApart) {
  problems_.Raise(ProblemKind::kPeerDead, "b is dead", "b");
  problems_.Raise(ProblemKind::kPeerDead, "c is dead", "c");
  EXPECT_EQ(problems_.All().size(), 2u);
  problems_.Clear(ProblemKind::kPeerDead, "b");
  ASSERT_EQ(problems_.All().size(), 1u);
  EXPECT_EQ(problems_.All()[0].message, "c is dead");
}

TEST_F(ProblemsTest, NeitherTheirNumberNorTheirLengthHasNoEnd) {
  for (int i = 0; i < 1000; ++i) {
    problems_.Raise(ProblemKind::kPeerDead, std::string(10'000, 'x'), std::to_string(i));
  }
  EXPECT_EQ(problems_.All().size(), Problems::kMostProblems);
  EXPECT_LT(HealthJson(problems_).size(), 64u * 800);
  problems_.Raise(ProblemKind::kPeerDead, "\xff\xfe", "0");
  EXPECT_FALSE(Health().is_discarded()) << "whatever the bytes are";
}

TEST_F(ProblemsTest, CodesDiffer) {
  std::set<std::string_view> codes;
  for (const ProblemTraits& traits : kProblemTraits) codes.insert(traits.code);
  EXPECT_EQ(codes.size(), kProblemTraits.size());
}

// docs/serving.md has the table: no code is missing, none is invented.
TEST_F(ProblemsTest, TheDocumentationHasEveryCode) {
  std::ifstream file(std::string(WEIR_SOURCE_DIR) + "/docs/serving.md");
  std::ostringstream text;
  text << file.rdbuf();
  std::string rows;
  for (const ProblemTraits& traits : kProblemTraits) {
    rows += "| `" + std::string(traits.code) + "` | " + std::string(traits.what) + " | " +
            (traits.stops ? "503" : "200") + " |\n";
  }
  EXPECT_NE(text.str().find("| --- | --- | --- |\n" + rows + "\n"), std::string::npos) << rows;
}

TEST_F(ProblemsTest, ThreadsMayRaiseAndClear) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 200; ++i) {
        problems_.Raise(ProblemKind::kPeerDead, std::to_string(i), std::to_string(t));
        HealthJson(problems_);
        problems_.Clear(ProblemKind::kPeerDead, std::to_string(t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(problems_.All().empty());
}

}  // namespace
}  // namespace weir::problems_test

// Runs every tests/scenarios/*.txt (scenario.h). WEIR_REWRITE=1 writes the answers into the files:
// then read the difference, for a changed answer is a changed promise.
#include "tests/scenarios/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weir::scenario_test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ScenarioFiles() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(WEIR_SOURCE_DIR "/tests/scenarios")) {
    if (entry.path().extension() == ".txt") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class ScenarioFile : public testing::TestWithParam<std::string> {};

TEST_P(ScenarioFile, IsAnsweredAsWritten) {
  Scenario scenario = ParseScenario(ReadFile(GetParam()));
  ASSERT_FALSE(scenario.blocks.empty());
  Stage stage(WEIR_SOURCE_DIR);
  const bool rewrite = std::getenv("WEIR_REWRITE") != nullptr;
  for (Block& block : scenario.blocks) {
    const std::string answers = stage.Run(block);
    if (!rewrite) {
      EXPECT_EQ(answers, block.answers) << GetParam() << ":" << block.line;
    }
    block.answers = answers;
  }
  if (rewrite) std::ofstream(GetParam()) << ScenarioText(scenario);
}

INSTANTIATE_TEST_SUITE_P(All, ScenarioFile, testing::ValuesIn(ScenarioFiles()),
                         [](const auto& file) { return fs::path(file.param).stem().string(); });

constexpr char kText[] = R"(# Said first.
rules
namespaces: {demo: {resources: {ping: {limits: [{name: main, limit: 10, per: 1m}]}}}}
----
ok

request demo ping ann 10
@15s peek demo ping ann 2
----
wrong

# Said last.
)";

TEST(ScenarioText, IsReadAndWrittenUnchanged) {
  EXPECT_EQ(ScenarioText(ParseScenario(kText)), kText);
  EXPECT_EQ(ScenarioText(ParseScenario("at 1s\n----\n")), "at 1s\n----\n");
}

TEST(ScenarioText, AWrongAnswerIsNoticed) {
  const Scenario scenario = ParseScenario(kText);
  ASSERT_EQ(scenario.blocks.size(), 2u);
  EXPECT_EQ(scenario.blocks[1].line, 7);
  Stage stage(WEIR_SOURCE_DIR);
  EXPECT_EQ(stage.Run(scenario.blocks[0]), scenario.blocks[0].answers);
  EXPECT_NE(stage.Run(scenario.blocks[1]), scenario.blocks[1].answers);
}

TEST(ScenarioText, BeginsWithRules) {
  Stage stage(WEIR_SOURCE_DIR);
  EXPECT_EQ(stage.Run(ParseScenario("peek a b c\n----\n").blocks[0]),
            "a scenario begins with rules\n");
}

TEST(ScenarioText, TellsWhatIsWrongWithRules) {
  Stage stage(WEIR_SOURCE_DIR);
  const std::string answer = stage.Run(ParseScenario("rules\nnamespaces: 3\n----\n").blocks[0]);
  EXPECT_NE(answer, "ok\n");
  EXPECT_FALSE(answer.empty());
}

}  // namespace
}  // namespace weir::scenario_test

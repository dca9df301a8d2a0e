// The program as a user meets it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "tests/cli/process.h"

namespace weir::cli_test {
namespace {

constexpr char kGood[] = R"(namespaces:
  shop:
    resources:
      search:
        limits:
          - {name: burst, limit: 10, per: 1m}
)";

// Every command that has options.
const std::vector<std::vector<std::string>> kCommands = {{"serve"},
                                                         {"request"},
                                                         {"peek"},
                                                         {"settle"},
                                                         {"reserve"},
                                                         {"top"},
                                                         {"config"},
                                                         {"config", "export"},
                                                         {"config", "import"},
                                                         {"config", "diff"},
                                                         {"cluster"},
                                                         {"cluster", "status"},
                                                         {"try"},
                                                         {"check"},
                                                         {"version"}};

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "weir_cli_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    Write("good.yaml", kGood);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
  Ran Weir(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), WEIR_BINARY);
    return RunWithPipe(arguments, input);
  }
  // `weir try` in simulated time from the beginning.
  Ran Try(const std::string& input) const {
    return Weir({"try", Path("good.yaml"), "--start", "2026-01-01T00:00:00Z"}, input);
  }

 private:
  std::string folder_;
};

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(CommandLine, TryAnswersEachLineOfAPipe) {
  const Ran ran =
      Try("# ten a minute\n"
          "\n"
          "shop search ann 10\n"
          "shop search ann\n"
          "@15s peek shop search ann 3\n"
          "shop search ann 2\n"
          "shop search ann 11\n");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.errors, "");
  EXPECT_EQ(ran.out,
            "allowed  granted 10    remaining 0         retry -           reset 1m          "
            "limit burst\n"
            "refused  granted 0     remaining 0         retry 6s          reset 1m          "
            "limit burst\n"
            "refused  granted 0     remaining 2         retry 3s          reset 45s         "
            "limit burst\n"
            "allowed  granted 2     remaining 0         retry -           reset 57s         "
            "limit burst\n"
            "refused  granted 0     remaining 0         retry never       reset 57s         "
            "limit burst\n");
}

TEST_F(CommandLine, TryGoesOnAfterABadLine) {
  const Ran ran = Try("shop search\nshop nothing ann\nquit\nshop search ann\n");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_TRUE(Has(ran.out, "error    bad_request: SUBJECT is missing")) << ran.out;
  EXPECT_TRUE(Has(ran.out, "error    unknown_resource")) << ran.out;
  EXPECT_FALSE(Has(ran.out, "allowed")) << "after quit: " << ran.out;
}

TEST_F(CommandLine, TrySettlesByTicket) {
  const Ran ran = Try("shop search ann 4 settle\nsettle #1 7\nsettle #1 7\nsettle #9 1\n");
  EXPECT_TRUE(Has(ran.out, "ticket #1\n")) << ran.out;
  EXPECT_TRUE(Has(ran.out, "settled  charged 7     remaining 3\n")) << ran.out;
  EXPECT_TRUE(Has(ran.out, "error    unknown_ticket")) << ran.out;
  EXPECT_TRUE(Has(ran.out, "no ticket is called '#9'")) << ran.out;
}

TEST_F(CommandLine, TryReloadsItsRules) {
  Write("more.yaml", kGood);
  const Ran before = Weir({"try", Path("more.yaml")}, "shop search ann\nreload\n");
  EXPECT_TRUE(Has(before.out, "reloaded " + Path("more.yaml"))) << before.out;
}

TEST_F(CommandLine, TryRunsInRealTimeUntilTold) {
  const Ran ran = Weir({"try", Path("good.yaml")},
                       "shop search ann\n@0s shop search bob\n"
                       "@1h shop search bob\n");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_TRUE(Has(ran.out, "allowed  granted 1")) << ran.out;
  EXPECT_TRUE(Has(ran.out, "time does not go back")) << ran.out;
}

TEST_F(CommandLine, TryPromptsAndPaintsAtATerminal) {
  const Ran ran = RunAtTerminal({WEIR_BINARY, "try", Path("good.yaml")},
                                "@0s shop search ann 10\nshop search ann\nhelp\nquit\n");
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_TRUE(Has(ran.out, "weir> ")) << ran.out;
  EXPECT_TRUE(Has(ran.out, "\x1b[32mallowed ")) << ran.out;
  EXPECT_TRUE(Has(ran.out, "\x1b[31mrefused ")) << ran.out;
  EXPECT_TRUE(Has(ran.out, "repeat N")) << ran.out;
}

TEST_F(CommandLine, TryTellsWhatIsWrongWithRules) {
  Write("bad.yaml", "namespaces:\n  shop:\n    resuorces: {}\n");
  const Ran ran = Weir({"try", Path("bad.yaml")}, "shop search ann\n");
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(Has(ran.errors, "bad.yaml:3:5: ")) << ran.errors;
  EXPECT_FALSE(Has(ran.errors, "\n\n")) << ran.errors;
  const Ran none = Weir({"try", Path("none.yaml")});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(std::count(none.errors.begin(), none.errors.end(), '\n'), 1) << none.errors;
}

TEST_F(CommandLine, CheckPrintsGoodRules) {
  const Ran ran = Weir({"check", Path("good.yaml")});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_EQ(ran.errors, "");
  EXPECT_TRUE(Has(ran.out, "search")) << ran.out;
  EXPECT_TRUE(Has(ran.out, "burst")) << ran.out;
}

TEST_F(CommandLine, CheckReadsItsOwnOutput) {
  const Ran first = Weir({"check", Path("good.yaml")});
  Write("again.yaml", first.out);
  const Ran second = Weir({"check", Path("again.yaml")});
  EXPECT_EQ(second.exit_code, 0) << second.errors;
  EXPECT_EQ(second.out, first.out);
}

TEST_F(CommandLine, CheckTellsWhatNormalisationChanged) {
  Write("tiers.yaml",
        "namespaces:\n"
        "  shop:\n"
        "    resources:\n"
        "      video:\n"
        "        tiers:\n"
        "          tiers:\n"
        "            - {limit: 50, window: 90s, active: 60s, cooldown: 0s}\n");
  const Ran ran = Weir({"check", Path("tiers.yaml")});
  EXPECT_EQ(ran.exit_code, 0) << ran.errors;
  EXPECT_TRUE(Has(ran.out, "window")) << ran.out;
  EXPECT_TRUE(Has(ran.out, "tiers.yaml:7")) << ran.out;
}

TEST_F(CommandLine, CheckListsEveryMistakeWithItsPlace) {
  Write("bad.yaml",
        "namespaces:\n"
        "  shop:\n"
        "    resuorces: {}\n"
        "    resources:\n"
        "      search:\n"
        "        limits:\n"
        "          - {name: burst, limit: -1, per: 1m}\n"
        "          - {name: burst, limit: 1, per: 0s}\n");
  const Ran ran = Weir({"check", Path("bad.yaml")});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_EQ(ran.out, "");
  for (const char* place : {"bad.yaml:3:5: ", "bad.yaml:7:", "bad.yaml:8:"}) {
    EXPECT_TRUE(Has(ran.errors, place)) << ran.errors;
  }
}

TEST_F(CommandLine, CheckTellsRulesOfAClusterFromWrongOnes) {
  const std::string start = "namespaces: {shop: {resources: {search: {limits: [{limit: 1, ";
  Write("shared.yaml", start + "per: 1s, coordination: replicated}]}}}}\n");
  const Ran alone = Weir({"check", Path("shared.yaml")});
  EXPECT_EQ(alone.exit_code, 1);
  EXPECT_TRUE(Has(alone.errors, "weir check --cluster ")) << alone.errors;
  EXPECT_EQ(Weir({"check", "--cluster", Path("shared.yaml")}).exit_code, 0);
  Write("wrong.yaml", start + "per: 0s, coordination: replicated}]}}}}\n");
  EXPECT_FALSE(Has(Weir({"check", Path("wrong.yaml")}).errors, "weir check --cluster "));
}

TEST_F(CommandLine, HelpListsTheCommands) {
  const Ran ran = Weir({"help"});
  EXPECT_EQ(ran.exit_code, 0);
  for (const char* command : {"try", "check", "help", "version"}) {
    EXPECT_TRUE(Has(ran.out, command)) << ran.out;
  }
  EXPECT_EQ(Weir({"--help"}).exit_code, 0);
}

TEST_F(CommandLine, HelpTellsOfEachCommand) {
  for (const std::vector<std::string>& names : kCommands) {
    std::vector<std::string> help = {"help"};
    help.insert(help.end(), names.begin(), names.end());
    std::vector<std::string> flag = names;
    flag.emplace_back("--help");
    const Ran ran = Weir(help);
    EXPECT_EQ(ran.exit_code, 0) << names[0];
    EXPECT_EQ(ran.out, Weir(flag).out) << names[0];
    EXPECT_TRUE(Has(ran.out, "Usage: weir " + names[0])) << ran.out;
  }
  const Ran none = Weir({"help", "config", "dance"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_EQ(none.errors, "weir: no command 'config dance'; 'weir help' lists them\n");
}

// CLI11 reads "-1" as 2^64-1 wherever a number is unsigned.
TEST_F(CommandLine, NumbersAreWholeAndFitInEveryOption) {
  std::set<std::string> seen;
  for (const std::vector<std::string>& names : kCommands) {
    std::vector<std::string> help = names;
    help.emplace_back("--help");
    std::istringstream lines(Weir(help).out);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string flag, type;
      words >> flag >> type;
      if (!flag.starts_with("--") ||
          (!type.starts_with("UINT") && !type.starts_with("INT") && !type.starts_with("FLOAT"))) {
        continue;
      }
      seen.insert(flag);
      for (const char* wrong : {"-1", "1.5", "99999999999999999999", "0x10", "1e3", "ten", "+1"}) {
        std::vector<std::string> command = names;
        command.insert(command.end(), {flag, wrong});
        const Ran ran = Weir(command);
        EXPECT_EQ(ran.exit_code, 2) << flag << " " << wrong;
        EXPECT_TRUE(ran.errors.starts_with(flag + ": '" + wrong + "' is not a whole number from 0"))
            << flag << " " << wrong << ": " << ran.errors;
      }
    }
  }
  for (const char* flag : {"--cost", "--min-cost", "--copies", "--threads", "--max-connections"}) {
    EXPECT_EQ(seen.count(flag), 1u) << flag;
  }
  for (const char* wrong : {"-1", "-1MiB", "1.5.5G", "99999999999T", "much"}) {
    const Ran ran = Weir({"serve", "--memory", wrong});
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_TRUE(ran.errors.starts_with("--memory: '" + std::string(wrong) + "' is not a size"))
        << ran.errors;
  }
  const Ran settle = Weir({"settle", "0123", "-1"});
  EXPECT_EQ(settle.exit_code, 2);
  EXPECT_TRUE(Has(settle.errors, "'-1' is not a whole number from 0")) << settle.errors;
  EXPECT_TRUE(Weir({"settle", "0123", "1.5"}).errors.starts_with("COST: '1.5' is not a whole"));
  EXPECT_TRUE(Has(Weir({"reserve", "--wait", "-1s", "a", "b", "c", "--", "true"}).errors,
                  "'-1s' is not a duration"));
}

// Nothing would ever be in time, or a thread would write without rest.
TEST_F(CommandLine, DurationsThatWouldBeNoneAreTold) {
  for (const auto& [flag, shorter, least] :
       std::vector<std::array<std::string, 3>>{{"--persist-interval", "0s", "1ms"},
                                               {"--persist-interval", "1ns", "1ms"},
                                               {"--request-timeout", "0s", "10ms"},
                                               {"--session-timeout", "0s", "1s"},
                                               {"--session-timeout", "999ms", "1s"}}) {
    const Ran ran = Weir({"serve", flag, shorter});
    EXPECT_EQ(ran.exit_code, 2) << flag;
    EXPECT_TRUE(
        ran.errors.starts_with(flag + ": '" + shorter + "' is too short: at least " + least))
        << ran.errors;
  }
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"peek", "a", "b", "c"}, {"cluster", "status"}, {"reserve", "a", "b", "c"}}) {
    std::vector<std::string> all = command;
    all.insert(all.end(), {"--deadline", "0s"});
    if (command[0] == "reserve") all.insert(all.end(), {"--", "true"});
    const Ran ran = Weir(all);
    EXPECT_EQ(ran.exit_code, 2) << command[0];
    EXPECT_TRUE(Has(ran.errors, "'0s' is too short: at least 1ms")) << ran.errors;
  }
}

TEST_F(CommandLine, VersionIsPrinted) {
  EXPECT_EQ(Weir({"version"}).out.substr(0, 6), "weir 0");
  EXPECT_EQ(Weir({"--version"}).out, Weir({"version"}).out);
}

TEST_F(CommandLine, MistakesOfUsageAreTold) {
  EXPECT_EQ(Weir({}).exit_code, 2);
  EXPECT_TRUE(Has(Weir({}).errors, "serve "));
  EXPECT_EQ(Weir({"try"}).exit_code, 2);
  const Ran dance = Weir({"dance"});
  EXPECT_EQ(dance.exit_code, 2);
  EXPECT_EQ(dance.errors, "weir: no command 'dance'; 'weir help' lists them\n");
}

}  // namespace
}  // namespace weir::cli_test

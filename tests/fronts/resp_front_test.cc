// The Redis protocol from bytes to bytes.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "fronts/resp/resp_front.h"
#include "tests/fronts/testing.h"

namespace weir::resp_front_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeLink;
using testing::kStart;

constexpr std::string_view kRules = R"(
namespaces:
  shop:
    resources:
      search:
        limits:
          - {name: burst, limit: 2, per: 1s}
          - {name: daily, algorithm: fixed_window, limit: 100, per: 1d}
      free: {limits: [{name: open, limit: unlimited}]}
      dark: {limits: [{name: rate, limit: 1, per: 1h, shadow: true}]}
      video:
        tiers:
          hard_limit: 5
          tiers: [{limit: 3, window: 1s, active: 60s, cooldown: 0s}]
      sandbox: {copies: {per_subject: 5}}
)";

// As client libraries send it.
std::string Command(std::initializer_list<std::string_view> words) {
  std::string text = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string_view word : words) {
    text += "$" + std::to_string(word.size()) + "\r\n" + std::string(word) + "\r\n";
  }
  return text;
}

struct RespTest : ::testing::Test {
  std::unique_ptr<Limiter> limiter = testing::Open(kRules);
  RespFront front{*limiter, {.version = "1.2.3"}};
  FakeLink link{front};
  std::string Send(std::string_view bytes, Instant now = kStart) { return link.Send(bytes, now); }
};

TEST_F(RespTest, ALimitInShadowSaysWhetherItWouldRefuse) {
  const std::string first = Send("WEIR.REQUEST shop dark who\r\n");
  EXPECT_NE(first.find("*1\r\n*14\r\n$4\r\nname\r\n"), std::string::npos) << first;
  EXPECT_TRUE(first.ends_with("$6\r\nshadow\r\n:1\r\n$12\r\nwould_refuse\r\n:0\r\n")) << first;
  const std::string second = Send("WEIR.REQUEST shop dark who\r\n");
  EXPECT_NE(second.find("allowed\r\n:1\r\n"), std::string::npos) << second;
  EXPECT_TRUE(second.ends_with("$12\r\nwould_refuse\r\n:1\r\n")) << second;
}

// ---- What goes wrong ----

TEST_F(RespTest, BrokenProtocolIsAnsweredOnceAndEndsTheConnection) {
  EXPECT_EQ(Send("PING\r\n*1\r\n$x\r\nPING\r\n"),
            "+PONG\r\n-ERR Protocol error: invalid bulk length\r\n");
  EXPECT_TRUE(link.protocol().done());
  EXPECT_EQ(Send("PING\r\n"), "");
}

// What is kept is counted, and little of it is: here nothing is owed, and no part of a command waits.
TEST_F(RespTest, WhatALongCommandHeldIsGivenBack) {
  const std::string large(40'000, 'x');
  for (const std::string& command :
       {"\"" + large + "\"", "PING " + large, "AUTH ann " + large, "HELLO 3 AUTH ann " + large,
        "CLIENT SETNAME " + large, "WEIR.REQUEST shop \"" + large + "\" ann"}) {
    FakeLink one(front);
    EXPECT_NE(one.Send(command + "\r\n"), "");
    EXPECT_LT(one.protocol().bytes(), 2000u) << command.substr(0, 20);
  }
}

TEST_F(RespTest, APasswordThatIsKeptIsCounted) {
  const std::string password(1000, 'p');
  RespFront locked(*limiter, {.password = [&](std::string_view given) {
    return given == password ? &kEverywhere : nullptr;
  }});
  FakeLink one(locked);
  EXPECT_EQ(one.Send("*2\r\n$4\r\nAUTH\r\n$1000\r\n" + password + "\r\n"), "+OK\r\n");
  EXPECT_GE(one.protocol().bytes(), password.size());
}

TEST_F(RespTest, UnknownCommandsAreNamedWithoutTheirControlCharacters) {
  EXPECT_EQ(Send("FOO a b\r\n"),
            "-ERR unknown command 'FOO', with args beginning with: 'a' 'b' \r\n");
  EXPECT_EQ(Send(Command({"a\r\n+OK\r\n"})),
            "-ERR unknown command 'a  +OK  ', with args beginning with: \r\n");
  EXPECT_LT(Send(Command({std::string(5000, 'x'), std::string(5000, 'y')})).size(), 500u);
}

TEST_F(RespTest, WrongNumbersOfArgumentsAreErrors) {
  EXPECT_EQ(Send("ECHO\r\n"), "-ERR wrong number of arguments for 'echo' command\r\n");
  EXPECT_EQ(Send("WEIR.REQUEST a b\r\n"),
            "-BAD_REQUEST wrong number of arguments for 'weir.request' command\r\n");
  EXPECT_EQ(Send("CL.THROTTLE a b c\r\n"),
            "-BAD_REQUEST wrong number of arguments for 'cl.throttle' command\r\n");
}

TEST_F(RespTest, ErrorsOfTheLimiterCarryTheirCode) {
  EXPECT_EQ(Send("WEIR.REQUEST nowhere search u\r\n"),
            "-UNKNOWN_NAMESPACE no namespace of this name has rules\r\n");
  EXPECT_EQ(Send("WEIR.PEEK shop nothing u\r\n"),
            "-UNKNOWN_RESOURCE the namespace has no resource of this name\r\n");
  EXPECT_EQ(Send("WEIR.REQUEST shop sandbox u\r\n"),
            "-WRONG_KIND the resource is limited by copies: reserve it\r\n");
  EXPECT_EQ(Send("WEIR.SETTLE 00000000000000000000000000000001 1\r\n"),
            "-UNKNOWN_TICKET no such ticket: it was settled, has expired, or never was\r\n");
}

TEST_F(RespTest, BadOptionsAreBadRequests) {
  const auto error = [&](std::string_view options) {
    return Send("WEIR.REQUEST shop search u " + std::string(options) + "\r\n");
  };
  EXPECT_EQ(error("COST -1"), "-BAD_REQUEST cost is negative\r\n");
  EXPECT_EQ(error("COST 1.5"), "-BAD_REQUEST cost is not a whole number\r\n");
  EXPECT_EQ(error("COST \"\""), "-BAD_REQUEST cost is not a whole number\r\n");
  EXPECT_EQ(error("COST 9007199254740993"),
            "-BAD_REQUEST cost is greater than 9007199254740992 (2^53)\r\n");
  EXPECT_EQ(error("MIN 99999999999999999999999"),
            "-BAD_REQUEST min is greater than 9007199254740992 (2^53)\r\n");
  EXPECT_EQ(error("COST"), "-BAD_REQUEST cost has no number behind it\r\n");
  EXPECT_EQ(error("COST 1 MIN 2"), "-BAD_REQUEST min_cost is greater than cost\r\n");
  EXPECT_EQ(error("COST 1 COST 2"), "-BAD_REQUEST cost is there twice\r\n");
  EXPECT_EQ(error("MIN 1 MIN 1"), "-BAD_REQUEST min is there twice\r\n");
  EXPECT_EQ(error("SOON"), "-BAD_REQUEST the options are COST n, MIN n and SETTLE\r\n");
  EXPECT_EQ(Send("WEIR.SETTLE abc 1\r\n"),
            "-BAD_REQUEST ticket is not 32 hexadecimal digits in small letters\r\n");
}

TEST_F(RespTest, ThrottleRefusesNumbersThatMakeNoSense) {
  const auto error = [&](std::string_view numbers) {
    return Send("CL.THROTTLE k " + std::string(numbers) + "\r\n").substr(0, 12);
  };
  for (const std::string_view bad :
       {"-1 1 1", "1 -1 1", "1 1 -1", "1 1 1 -1", "x 1 1", "1 1.5 1", "1 0 1", "1 1 0",
        "9007199254740992 1 1", "18446744073709551615 1 1", "1 1 9223372036854775807",
        "1 1 9223372037", "1 1 1 9223372036854775808", "9007199254740991 1 60"}) {
    EXPECT_EQ(error(bad), "-BAD_REQUEST") << bad;
  }
}

TEST_F(RespTest, ThrottleCanBeSwitchedOff) {
  RespFront strict(*limiter, {.adhoc = false});
  FakeLink other(strict);
  EXPECT_EQ(other.Send("CL.THROTTLE k 1 1 1\r\n"),
            "-BAD_REQUEST limits carried by a request are switched off (--adhoc off)\r\n");
}

TEST_F(RespTest, NothingIsDoneBeforeThePasswordIsGiven) {
  RespFront locked(*limiter, {.password = [](std::string_view word) {
    return word == "open" ? &kEverywhere : nullptr;
  }});
  FakeLink other(locked);
  EXPECT_EQ(other.Send("PING\r\n"), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(other.Send("NOSUCH\r\n"), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(other.Send("WEIR.REQUEST shop search u\r\n"), "-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(other.Send("HELLO 3\r\n").substr(0, 7), "-NOAUTH");
  EXPECT_EQ(other.Send("AUTH wrong\r\n").substr(0, 10), "-WRONGPASS");
  EXPECT_EQ(other.Send("HELLO 3 AUTH default wrong\r\n").substr(0, 10), "-WRONGPASS");
  EXPECT_EQ(other.Send("AUTH default open\r\nPING\r\n"), "+OK\r\n+PONG\r\n");
  EXPECT_EQ(other.Send("RESET\r\nPING\r\n"), "+RESET\r\n-NOAUTH Authentication required.\r\n");
  EXPECT_EQ(other.Send("HELLO 3 AUTH default open\r\n").substr(0, 4), "%7\r\n");
}

// ---- What clients say when they connect ----

TEST_F(RespTest, ClientsConnect) {
  EXPECT_EQ(Send("ping\r\n"), "+PONG\r\n");
  EXPECT_EQ(Send(Command({"PiNg", "a\r\nb"})), "$4\r\na\r\nb\r\n");
  EXPECT_EQ(Send(Command({"ECHO", ""})), "$0\r\n\r\n");
  EXPECT_EQ(Send("SELECT 0\r\n"), "+OK\r\n");
  EXPECT_EQ(Send("SELECT 1\r\n"), "-ERR DB index is out of range\r\n");
  EXPECT_EQ(Send("AUTH x\r\n").substr(0, 9), "-ERR AUTH");
  EXPECT_EQ(Send("CLIENT GETNAME\r\n"), "$-1\r\n");
  EXPECT_EQ(Send("CLIENT SETNAME me\r\nCLIENT GETNAME\r\n"), "+OK\r\n$2\r\nme\r\n");
  EXPECT_EQ(Send("CLIENT SETNAME \"a b\"\r\n").substr(0, 4), "-ERR");
  EXPECT_EQ(Send("CLIENT ID\r\n"), ":1\r\n");
  EXPECT_EQ(Send("CLIENT INFO\r\n"), "$40\r\nid=1 addr=192.0.2.7 name=me db=0 resp=2\n\r\n");
  EXPECT_EQ(Send("CLIENT SETINFO LIB-NAME x\r\n"), "+OK\r\n");
  EXPECT_EQ(Send("CLIENT KILL all\r\n").substr(0, 4), "-ERR");
  EXPECT_EQ(Send("COMMAND\r\nCOMMAND DOCS\r\nCOMMAND COUNT\r\n"), "*0\r\n*0\r\n:0\r\n");
  EXPECT_EQ(Send("COMMAND INFO get set\r\n"), "*2\r\n$-1\r\n$-1\r\n");
  EXPECT_EQ(Send("CONFIG GET save\r\n"), "*2\r\n$4\r\nsave\r\n$0\r\n\r\n");
  EXPECT_EQ(Send("CONFIG GET appendonly\r\n"), "*2\r\n$10\r\nappendonly\r\n$2\r\nno\r\n");
  EXPECT_EQ(Send("CONFIG GET *\r\n"), "*0\r\n");
  EXPECT_EQ(Send("CONFIG SET a b\r\n").substr(0, 4), "-ERR");
  const std::string info = Send("INFO server\r\n");
  EXPECT_NE(info.find("redis_version:7.0.0\r\n"), std::string::npos);
  EXPECT_NE(info.find("weir_version:1.2.3\r\n"), std::string::npos);
  EXPECT_EQ(Send("QUIT\r\nPING\r\n"), "+OK\r\n");
  EXPECT_TRUE(link.protocol().done());
}

TEST_F(RespTest, HelloChoosesTheForm) {
  EXPECT_EQ(Send("HELLO 4\r\n"), "-NOPROTO unsupported protocol version\r\n");
  EXPECT_EQ(Send("HELLO 3 SETNAME\r\n"), "-ERR syntax error\r\n");
  EXPECT_EQ(Send("HELLO 3 SETNAME me\r\n"),
            "%7\r\n$6\r\nserver\r\n$4\r\nweir\r\n$7\r\nversion\r\n$5\r\n7.0.0\r\n$5\r\nproto\r\n:3"
            "\r\n$2\r\nid\r\n:1\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster"
            "\r\n$7\r\nmodules\r\n*0\r\n");
  EXPECT_EQ(Send("CLIENT GETNAME\r\nCOMMAND DOCS\r\n"), "$2\r\nme\r\n%0\r\n");
  EXPECT_EQ(Send("HELLO 2\r\n").substr(0, 5), "*14\r\n");
  EXPECT_EQ(Send("HELLO\r\n").substr(0, 5), "*14\r\n");
}

TEST_F(RespTest, DrainingFinishesWhatHasBegun) {
  EXPECT_TRUE(link.protocol().idle());
  Send("*1\r\n$4\r\nPI");
  EXPECT_FALSE(link.protocol().idle());
  link.protocol().Drain(Turn(link.clock()));
  EXPECT_FALSE(link.protocol().done());
  EXPECT_EQ(Send("NG\r\n"), "+PONG\r\n");
  EXPECT_TRUE(link.protocol().done());
}

// ---- Decisions ----

TEST_F(RespTest, ADecisionIsAFlatMapInResp2) {
  EXPECT_EQ(Send(Command({"WEIR.REQUEST", "shop", "search", "ann"})),
            "*14\r\n$7\r\nallowed\r\n:1\r\n$7\r\ngranted\r\n:1\r\n$9\r\nremaining\r\n:1\r\n"
            "$14\r\nretry_after_ms\r\n:0\r\n$14\r\nreset_after_ms\r\n:500\r\n"
            "$5\r\nlimit\r\n$5\r\nburst\r\n$6\r\nlimits\r\n*2\r\n"
            "*10\r\n$4\r\nname\r\n$5\r\nburst\r\n$5\r\nlimit\r\n:2\r\n$6\r\nper_ms\r\n:1000\r\n"
            "$9\r\nremaining\r\n:1\r\n$14\r\nreset_after_ms\r\n:500\r\n"
            "*10\r\n$4\r\nname\r\n$5\r\ndaily\r\n$5\r\nlimit\r\n:100\r\n$6\r\nper_ms\r\n:86400000"
            "\r\n$9\r\nremaining\r\n:99\r\n$14\r\nreset_after_ms\r\n:57600000\r\n");
}

TEST_F(RespTest, ADecisionIsAMapInResp3) {
  Send("HELLO 3\r\n");
  EXPECT_EQ(Send("WEIR.REQUEST shop free ann COST 7\r\n"),
            "%7\r\n$7\r\nallowed\r\n#t\r\n$7\r\ngranted\r\n:7\r\n$9\r\nremaining\r\n_\r\n"
            "$14\r\nretry_after_ms\r\n:0\r\n$14\r\nreset_after_ms\r\n:0\r\n"
            "$5\r\nlimit\r\n_\r\n$6\r\nlimits\r\n*1\r\n"
            "%5\r\n$4\r\nname\r\n$4\r\nopen\r\n$5\r\nlimit\r\n_\r\n$6\r\nper_ms\r\n:0\r\n"
            "$9\r\nremaining\r\n_\r\n$14\r\nreset_after_ms\r\n:0\r\n");
}

TEST_F(RespTest, TiersTellTheirOwnFields) {
  Send("HELLO 3\r\n");
  const std::string answer = Send("WEIR.REQUEST shop video ann\r\n");
  EXPECT_EQ(answer.substr(0, 5), "%17\r\n");
  EXPECT_NE(answer.find("$4\r\ntier\r\n:1\r\n$10\r\ntier_limit\r\n:3\r\n$9\r\ntier_hits\r\n:1\r\n"
                        "$5\r\nburst\r\n#t\r\n$10\r\nhard_limit\r\n:5\r\n$12\r\nhard_limited\r\n#f"
                        "\r\n$16\r\nhits_last_second\r\n:1\r\n$12\r\nglobal_limit\r\n_\r\n"
                        "$14\r\nglobal_limited\r\n#f\r\n$23\r\nglobal_hits_last_second\r\n:0\r\n"),
            std::string::npos)
      << answer;
}

TEST_F(RespTest, TheTrueCostIsSettledByTicket) {
  const std::string answer = Send("WEIR.REQUEST shop search ann COST 2 MIN 1 SETTLE\r\n");
  const size_t at = answer.find("$6\r\nticket\r\n$32\r\n");
  ASSERT_NE(at, std::string::npos) << answer;
  const std::string ticket = answer.substr(at + 17, 32);
  EXPECT_EQ(Send("WEIR.SETTLE " + ticket + " 1\r\n"),
            "*4\r\n$7\r\ncharged\r\n:1\r\n$9\r\nremaining\r\n:1\r\n");
  EXPECT_EQ(Send("WEIR.SETTLE " + ticket + " 1\r\n").substr(0, 15), "-UNKNOWN_TICKET");
}

TEST_F(RespTest, ThrottleAnswersFiveIntegersInWholeSecondsRoundedUp) {
  const auto ask = [&](std::string_view words, Instant now = kStart) {
    return Send("CL.THROTTLE " + std::string(words) + "\r\n", now);
  };
  EXPECT_EQ(ask("k 1 1 10"), "*5\r\n:0\r\n:2\r\n:1\r\n:-1\r\n:10\r\n");
  EXPECT_EQ(ask("k 1 1 10"), "*5\r\n:0\r\n:2\r\n:0\r\n:-1\r\n:20\r\n");
  EXPECT_EQ(ask("k 1 1 10"), "*5\r\n:1\r\n:2\r\n:0\r\n:10\r\n:20\r\n");
  const Instant later = kStart + milliseconds(500);
  EXPECT_EQ(ask("k 1 1 10", later), "*5\r\n:1\r\n:2\r\n:0\r\n:10\r\n:20\r\n");
  EXPECT_EQ(ask("k 1 1 10 0", later), "*5\r\n:0\r\n:2\r\n:0\r\n:-1\r\n:20\r\n");
  EXPECT_EQ(ask("k 1 1 10 3", later), "*5\r\n:1\r\n:2\r\n:0\r\n:-1\r\n:20\r\n");
}

// ---- Order ----

TEST_F(RespTest, AnswersKeepTheOrderOfThePipeline) {
  std::string sent, expected;
  for (int i = 0; i < 100; ++i) {
    const std::string subject = "s" + std::to_string(i % 7);
    const std::string request = Command({"WEIR.REQUEST", "shop", "search", subject});
    const std::string echo = Command({"ECHO", std::to_string(i)});
    sent += request;
    if (i % 5 == 0) sent += echo + "WEIR.REQUEST shop search \"" + subject + "\"\r\n";
    if (i % 11 == 0) sent += "WEIR.REQUEST shop search u COST x\r\n";
  }
  auto other = testing::Open(kRules);
  RespFront one_by_one(*other);
  FakeLink slow(one_by_one);
  for (const char byte : sent) expected += slow.Send({&byte, 1});
  EXPECT_EQ(Send(sent), expected);
}

RC_GTEST_PROP(RespProperty, EverySplitOfTheBytesGivesTheSameAnswers, ()) {
  const auto pieces = *rc::gen::container<std::vector<std::string>>(rc::gen::element<std::string>(
      "PING\r\n", "*1\r\n$4\r\nPING\r\n", "WEIR.REQUEST shop search u\r\n",
      Command({"weir.request", "shop", "search", "v", "COST", "2", "min", "1"}),
      Command({"WEIR.REQUEST", "shop", "nothing", "v"}), "CL.THROTTLE k 3 1 1\r\n",
      "weir.request shop search \"\\x41 b\"\r\n", "HELLO 3\r\n", "RESET\r\n", "\r\n", "*0\r\n",
      "FOO bar\r\n", "*1\r\n$1\r\n", "*x\r\n", "QUIT\r\n", "\"\r\n", "$", "*-1\r\n"));
  std::string sent;
  for (const std::string& piece : pieces) sent += piece;
  const auto whole_limiter = testing::Open(kRules), split_limiter = testing::Open(kRules);
  RespFront whole_front(*whole_limiter), split_front(*split_limiter);
  FakeLink whole(whole_front);
  const std::string expected = whole.Send(sent);
  const size_t at = *rc::gen::inRange<size_t>(0, sent.size() + 1);
  FakeLink split(split_front);
  // The second link of a front has another id, which HELLO tells: hence two fronts.
  std::string answers = split.Send(std::string_view(sent).substr(0, at));
  answers += split.Send(std::string_view(sent).substr(at));
  RC_ASSERT(answers == expected);
  RC_ASSERT(split.protocol().done() == whole.protocol().done());
}

// The formula of the design, in whole nanoseconds times the count, so that nothing is rounded:
// T = period/count; TAT' = max(now, TAT) + q*T; refused if and only if now < TAT' - T*limit.
struct Model {
  __int128 tat = 0;  // nanoseconds times count
  std::string Ask(int64_t burst, int64_t count, int64_t period, int64_t quantity, int64_t now) {
    const auto up = [](__int128 a, __int128 b) { return static_cast<int64_t>((a + b - 1) / b); };
    const __int128 token = __int128{period} * 1'000'000'000, at = __int128{now} * count;
    const __int128 second = __int128{1'000'000'000} * count;
    const int64_t limit = burst + 1;
    const __int128 start = std::max(at, tat), next = start + quantity * token;
    const bool refused = at < next - token * limit;
    if (!refused && quantity > 0) tat = next;
    const __int128 debt = std::max<__int128>(tat - at, 0);
    const auto remaining =
        static_cast<int64_t>(std::max<__int128>(token * limit - debt, 0) / token);
    int64_t retry = -1;
    if (refused && quantity <= limit) retry = up(next - token * limit - at, second);
    std::string text = "*5\r\n";
    for (const int64_t n : {int64_t{refused}, limit, remaining, retry, up(debt, second)}) {
      text += ":" + std::to_string(n) + "\r\n";
    }
    return text;
  }
};

RC_GTEST_PROP(RespProperty, ThrottleFollowsTheFormula, ()) {
  const auto limiter = testing::Open(kRules);
  RespFront front(*limiter);
  FakeLink link(front);
  const int64_t burst = *rc::gen::inRange<int64_t>(0, 20);
  const int64_t count = *rc::gen::inRange<int64_t>(1, 50);
  const int64_t period = *rc::gen::inRange<int64_t>(1, 100);
  const auto numbers =
      std::to_string(burst) + " " + std::to_string(count) + " " + std::to_string(period) + " ";
  Model model;
  Instant now = kStart;
  for (int i = 0; i < 40; ++i) {
    now += Duration(*rc::gen::inRange<int64_t>(0, 3'000'000'000));
    const int64_t quantity = *rc::gen::inRange<int64_t>(0, 6);
    const std::string answer =
        link.Send("CL.THROTTLE key " + numbers + std::to_string(quantity) + "\r\n", now);
    RC_ASSERT(answer == model.Ask(burst, count, period, quantity, ToNanos(now)));
  }
}

}  // namespace
}  // namespace weir::resp_front_test

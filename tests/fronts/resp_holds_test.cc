// Holds over the Redis protocol: the connection is the session.
#include <gtest/gtest.h>

#include <thread>

#include "fronts/resp/resp_front.h"
#include "tests/fronts/testing.h"

namespace weir::resp_holds_test {
namespace {

using std::chrono::seconds;
using testing::FakeLink;
using testing::kStart;

constexpr std::string_view kNobody = "00000000000000000000000000000001";

// The bulk string that follows a field's name.
std::string Field(const std::string& answer, std::string_view name) {
  const size_t at = answer.find("\r\n" + std::string(name) + "\r\n$32\r\n");
  return at == std::string::npos ? "" : answer.substr(at + name.size() + 4 + 5, 32);
}

struct RespHolds : ::testing::Test {
  std::unique_ptr<Limiter> limiter = testing::Open(testing::kHoldRules);
  RespFront front{*limiter};
  FakeLink link{front}, other{front};
  std::string Send(const std::string& line, Instant now = kStart) {
    return link.Send(line + "\r\n", now);
  }
  std::string Hold(FakeLink& by, const std::string& what) {
    return Field(by.Send("WEIR.RESERVE " + what + "\r\n"), "hold");
  }
};

// ---- What goes wrong ----

TEST_F(RespHolds, ErrorsOfTheLimiterCarryTheirCode) {
  const auto code = [&](const std::string& line) {
    const std::string answer = Send(line);
    return answer.substr(0, answer.find(' '));
  };
  EXPECT_EQ(code("WEIR.RESERVE x box ann"), "-UNKNOWN_NAMESPACE");
  EXPECT_EQ(code("WEIR.RESERVE n x ann"), "-UNKNOWN_RESOURCE");
  EXPECT_EQ(code("WEIR.RESERVE n rate ann"), "-WRONG_KIND");
  EXPECT_EQ(code("WEIR.RESERVE n box ann COPIES 0"), "-BAD_REQUEST");
  EXPECT_EQ(code("WEIR.RESERVE n box ann COPIES 1 MIN 2"), "-BAD_REQUEST");
  EXPECT_EQ(code("WEIR.RELEASE " + std::string(kNobody)), "-NOT_HELD");
  EXPECT_EQ(code("WEIR.TRANSFER " + std::string(kNobody) + " TTL 5"), "-NOT_HELD");
  EXPECT_EQ(code("WEIR.SEIZE " + std::string(kNobody)), "-UNKNOWN_TRANSFER");
  const std::string hold = Hold(other, "n box bob");
  EXPECT_EQ(code("WEIR.RELEASE " + hold), "-NOT_HELD") << "only the owner may release";
}

TEST_F(RespHolds, BadWordsAreBadRequests) {
  const std::string hold(kNobody);
  const auto bad = [&](const std::string& line, std::string_view why) {
    EXPECT_EQ(Send(line), "-BAD_REQUEST " + std::string(why) + "\r\n") << line;
  };
  bad("WEIR.RESERVE n box", "wrong number of arguments for 'weir.reserve' command");
  bad("WEIR.SEIZE", "wrong number of arguments for 'weir.seize' command");
  bad("WEIR.TRANSFER " + hold, "wrong number of arguments for 'weir.transfer' command");
  bad("WEIR.RESERVE n box u SOON", "the options are COPIES n, MIN n, WAIT ms, QUEUE n and SHARE");
  bad("WEIR.RESERVE n box u WAIT", "wait has no number behind it");
  bad("WEIR.RESERVE n box u QUEUE -1", "queue is negative");
  bad("WEIR.RESERVE n box u COPIES 1 COPIES 1", "copies is there twice");
  bad("WEIR.RELEASE x", "hold is not 32 hexadecimal digits in small letters");
  bad("WEIR.RELEASE " + hold + " COPIES 0", "copies is 0; without it, all are meant");
  bad("WEIR.RELEASE " + hold + " TTL 1", "the only option is COPIES n");
  bad("WEIR.TRANSFER " + hold + " COPIES 1", "ttl is missing");
  bad("WEIR.TRANSFER " + hold + " TTL 0", "ttl is 0");
  bad("WEIR.TRANSFER " + hold + " TTL 86400001", "ttl is more than 86400000 (a day)");
  bad("WEIR.TRANSFER " + hold + " TTL 9007199254740992", "ttl is more than 86400000 (a day)");
  bad("WEIR.TRANSFER " + hold + " COPIES 0 TTL 1", "copies is 0; without it, all are meant");
  bad("WEIR.SEIZE x", "transfer is not 32 hexadecimal digits in small letters");
}

// ---- What is answered ----

TEST_F(RespHolds, AReservationTellsEverythingInBothForms) {
  const std::string flat = Send("WEIR.RESERVE n box ann COPIES 9 MIN 2");
  EXPECT_TRUE(
      flat.starts_with("*18\r\n$7\r\nallowed\r\n:1\r\n$7\r\noutcome\r\n$7\r\ngranted\r\n"
                       "$7\r\ngranted\r\n:4\r\n$4\r\nhold\r\n$32\r\n"))
      << flat;
  EXPECT_TRUE(
      flat.ends_with("$4\r\nheld\r\n:4\r\n$11\r\nper_subject\r\n:5\r\n$10\r\nheld_total\r\n"
                     ":4\r\n$5\r\ntotal\r\n:8\r\n$6\r\ngroups\r\n*1\r\n*6\r\n$4\r\nname\r\n"
                     "$5\r\ntrial\r\n$5\r\nlimit\r\n:4\r\n$4\r\nheld\r\n:4\r\n"))
      << flat;
  Send("HELLO 3");
  const std::string map = Send("WEIR.RESERVE n box ann");
  EXPECT_TRUE(
      map.starts_with("%9\r\n$7\r\nallowed\r\n#f\r\n$7\r\noutcome\r\n$7\r\nrefused\r\n"
                      "$7\r\ngranted\r\n:0\r\n$4\r\nhold\r\n_\r\n"))
      << map;
}

TEST_F(RespHolds, CopiesAreReleasedBitByBit) {
  const std::string hold = Hold(link, "n box ann COPIES 3");
  EXPECT_EQ(Send("WEIR.RELEASE " + hold + " COPIES 1"), "*2\r\n$6\r\ncopies\r\n:2\r\n");
  EXPECT_EQ(Send("WEIR.RELEASE " + hold), "*2\r\n$6\r\ncopies\r\n:0\r\n");
  EXPECT_EQ(limiter->Stats().holds, 0u);
}

TEST_F(RespHolds, ATransferOutlivesItsGiver) {
  const std::string hold = Hold(link, "n box ann COPIES 3");
  const std::string transfer =
      Field(Send("WEIR.TRANSFER " + hold + " COPIES 2 TTL 5000"), "transfer");
  link.Close();
  const std::string seized = other.Send("WEIR.SEIZE " + transfer + "\r\n");
  EXPECT_TRUE(
      seized.ends_with("$9\r\nnamespace\r\n$1\r\nn\r\n$8\r\nresource\r\n$3\r\nbox\r\n"
                       "$7\r\nsubject\r\n$3\r\nann\r\n$6\r\ncopies\r\n:2\r\n$6\r\ngroups\r\n"
                       "*1\r\n$5\r\ntrial\r\n"))
      << seized;
  EXPECT_EQ(other.Send("WEIR.RELEASE " + Field(seized, "hold") + "\r\n"),
            "*2\r\n$6\r\ncopies\r\n:0\r\n");
}

TEST_F(RespHolds, TheEndOfAConnectionReleasesWhatItHolds) {
  EXPECT_TRUE(link.protocol().idle());
  EXPECT_NE(Hold(link, "n lock ann"), "");
  EXPECT_FALSE(link.protocol().idle()) << "it is not closed to make room for another";
  EXPECT_EQ(Hold(other, "n lock ann"), "");
  link.Close();
  EXPECT_EQ(limiter->Stats().sessions, 1u);
  EXPECT_NE(Hold(other, "n lock ann"), "");
  other.Send("RESET\r\n");
  EXPECT_EQ(limiter->Stats().sessions, 0u);
  EXPECT_EQ(limiter->Stats().holds, 0u);
}

// ---- Waiting ----

TEST_F(RespHolds, WhoWaitsIsAnsweredFromAnotherThreadAndInOrder) {
  const std::string hold = Hold(link, "n lock ann");
  EXPECT_EQ(other.Send("PING\r\nWEIR.RESERVE n lock ann WAIT 5000\r\nPING\r\nECHO x\r\n"),
            "+PONG\r\n");
  EXPECT_TRUE(other.protocol().answering());
  EXPECT_FALSE(other.protocol().idle());
  EXPECT_EQ(other.Send("ECHO y\r\n"), "") << "nothing overtakes";
  EXPECT_EQ(limiter->Stats().waiting, 1u);
  std::thread([&] { Send("WEIR.RELEASE " + hold); }).join();
  EXPECT_EQ(other.Written(), "") << "not before the connection's own thread does it";
  const std::string answer = other.RunPosted();
  EXPECT_TRUE(answer.starts_with("*18\r\n$7\r\nallowed\r\n:1\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("+PONG\r\n$1\r\nx\r\n$1\r\ny\r\n")) << answer;
  EXPECT_FALSE(other.protocol().answering());
}

TEST_F(RespHolds, PatienceEndsAndQueuesAreFull) {
  Hold(link, "n lock ann");
  FakeLink third(front);
  EXPECT_EQ(other.Send("WEIR.RESERVE n lock ann WAIT 1000\r\n"), "");
  EXPECT_NE(third.Send("WEIR.RESERVE n lock ann WAIT 1000 QUEUE 1\r\n").find("queue_full"),
            std::string::npos);
  limiter->Tick(kStart + seconds(2));
  EXPECT_NE(other.RunPosted().find("$7\r\ntimeout\r\n"), std::string::npos);
}

TEST_F(RespHolds, WhoSharesIsToldThatItIsDone) {
  const std::string hold = Hold(link, "n lock ann SHARE");
  EXPECT_EQ(other.Send("WEIR.RESERVE n lock ann WAIT 1000 SHARE\r\n"), "");
  Send("WEIR.RELEASE " + hold);
  EXPECT_NE(other.RunPosted().find("$4\r\ndone\r\n"), std::string::npos);
}

TEST_F(RespHolds, WaitingThatIsNotNeededIsAnsweredAtOnce) {
  EXPECT_NE(Hold(link, "n lock ann WAIT 9007199254740992"), "");
  EXPECT_FALSE(link.protocol().answering());
}

TEST_F(RespHolds, AnAnswerForAConnectionThatIsGoneIsDropped) {
  const std::string hold = Hold(link, "n lock ann");
  {
    FakeLink gone(front);
    gone.Send("WEIR.RESERVE n lock ann WAIT 5000\r\n");
    Send("WEIR.RELEASE " + hold);  // its answer is posted,
    gone.Close();                  // and then it closes
    EXPECT_EQ(gone.RunPosted(), "");
  }
  EXPECT_EQ(limiter->Stats().holds, 0u);
  EXPECT_EQ(limiter->Stats().waiting, 0u);
  const std::string again = Hold(link, "n lock ann");
  {
    FakeLink gone(front);
    gone.Send("WEIR.RESERVE n lock ann WAIT 5000\r\n");
    gone.Close();
    EXPECT_EQ(limiter->Stats().waiting, 0u);
  }
  Send("WEIR.RELEASE " + again);  // nobody is there to be told
}

TEST_F(RespHolds, WhoWaitsIsNotCutOffByDraining) {
  const std::string hold = Hold(link, "n lock ann");
  other.Send("WEIR.RESERVE n lock ann WAIT 5000\r\n");
  other.protocol().Drain(Turn(other.clock()));
  EXPECT_FALSE(other.protocol().done());
  Send("WEIR.RELEASE " + hold);
  EXPECT_NE(other.RunPosted(), "");
  EXPECT_TRUE(other.protocol().done());
}

TEST_F(RespHolds, AnAddressThatWaitsAsOftenAsItMayLeavesRoomForOthers) {
  testing::WaitAsOftenAsMay(*limiter, "192.0.2.7");
  FakeLink elsewhere{front, "192.0.2.8"};
  Hold(other, "n lock ann");
  EXPECT_NE(Send("WEIR.RESERVE n lock ann WAIT 5000").find("queue_full"), std::string::npos);
  EXPECT_EQ(elsewhere.Send("WEIR.RESERVE n lock ann WAIT 5000\r\n"), "");
}

}  // namespace
}  // namespace weir::resp_holds_test

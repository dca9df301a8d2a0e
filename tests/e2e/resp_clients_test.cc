// The Redis port as Redis' own clients see it.
#include <gtest/gtest.h>
#include <hiredis/hiredis.h>

#include <memory>

#include "tests/e2e/server_process.h"

namespace weir::e2e::resp_clients_test {
namespace {

constexpr char kRules[] =
    "namespaces: {shop: {resources: {search: {limits: [{name: burst, limit: 10, per: 1d}]}}}}\n";

class E2eRespClients : public ::testing::Test {
 protected:
  Finished Redis(std::vector<std::string> words, const std::string& input = "",
                 const std::string& program = "redis-cli") {
    words.insert(words.begin(), {program, "-p", std::to_string(server_.port("resp"))});
    return RunProgram(words, input);
  }
  Finished Benchmark(std::vector<std::string> words) {
    words.insert(words.begin(), {"-n", "2000", "-c", "8", "-P", "16", "--csv"});
    return Redis(std::move(words), "", "redis-benchmark");
  }

  TemporaryFiles files_;
  ServerProcess server_{{"--config", files_.Write("rules.yaml", kRules)}};
};

TEST_F(E2eRespClients, RedisCliAsksInBothVersionsOfTheProtocol) {
  EXPECT_EQ(Redis({"PING"}).output, "PONG\n");
  EXPECT_EQ(Redis({"CL.THROTTLE", "key", "4", "5", "86400"}).output, "0\n5\n4\n-1\n17280\n");
  EXPECT_EQ(Redis({"-3", "CL.THROTTLE", "key", "4", "5", "86400", "5"}).output.substr(0, 6),
            "1\n5\n4\n");
  const Finished flat = Redis({"WEIR.REQUEST", "shop", "search", "ann"});
  EXPECT_TRUE(flat.output.starts_with("allowed\n1\ngranted\n1\nremaining\n9\n")) << flat.output;
  const Finished map = Redis({"-3", "--json", "WEIR.REQUEST", "shop", "search", "ann"});
  EXPECT_TRUE(map.output.starts_with(R"({"allowed":true,"granted":1,"remaining":8,)"))
      << map.output;
  EXPECT_NE(map.output.find(R"("limits":[{"name":"burst","limit":10,)"), std::string::npos)
      << map.output;
}

TEST_F(E2eRespClients, RedisCliShowsErrorsAndGoesOn) {
  const Finished all = Redis({}, "PING\nWEIR.REQUEST shop\nNO.SUCH\nECHO still-here\n");
  EXPECT_TRUE(all.output.starts_with("PONG\nBAD_REQUEST ")) << all.output;
  EXPECT_NE(all.output.find("still-here\n"), std::string::npos) << all.output;
}

TEST_F(E2eRespClients, RedisCliPipesCommandsOfBothForms) {
  std::string commands;
  for (int i = 0; i < 200; ++i) {
    commands += "WEIR.REQUEST shop search inline\r\n";
    commands += "*4\r\n$12\r\nWEIR.REQUEST\r\n$4\r\nshop\r\n$6\r\nsearch\r\n$5\r\narray\r\n";
  }
  const Finished piped = Redis({"--pipe"}, commands);
  EXPECT_EQ(piped.exit_code, 0);
  EXPECT_NE(piped.output.find("errors: 0, replies: 400\n"), std::string::npos) << piped.output;
  for (const char* subject : {"inline", "array"}) {
    const Finished peek = Redis({"WEIR.PEEK", "shop", "search", subject});
    EXPECT_TRUE(peek.output.starts_with("allowed\n0\n")) << peek.output;
  }
}

TEST_F(E2eRespClients, RedisBenchmarkRunsPipelined) {
  const auto runs = [&](const std::vector<std::string>& words, const std::string& row) {
    const Finished run = Benchmark(words);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.output.find("\n\"" + row), std::string::npos) << run.output;
    EXPECT_EQ(run.output.find("Error"), std::string::npos) << run.output;
  };
  runs({"-t", "ping"}, "PING_MBULK");
  runs({"-r", "100", "CL.THROTTLE", "key:__rand_int__", "4", "5", "86400"}, "CL.THROTTLE");
  runs({"WEIR.REQUEST", "shop", "search", "bench"}, "WEIR.REQUEST");
  const std::string stats =
      HttpGet(server_.port("http"), "/v1/stats?namespace=shop&resource=search");
  EXPECT_NE(stats.find("\"total\":{\"admitted\":10,\"refused\":1990,"), std::string::npos) << stats;
}

TEST_F(E2eRespClients, RedisPyIsAnsweredAndACrowdGetsExactlyTheLimit) {
  const Finished checked = RunProgram({"/usr/bin/python3", "-B",
                                       std::string(WEIR_SOURCE_DIR) + "/tests/e2e/redis_client.py",
                                       std::to_string(server_.port("resp"))});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
}

// ---- hiredis ----

struct Free {
  void operator()(redisContext* context) const { redisFree(context); }
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};
using Reply = std::unique_ptr<redisReply, Free>;

class E2eHiredis : public E2eRespClients {
 protected:
  Reply Next() {
    void* reply = nullptr;
    EXPECT_EQ(redisGetReply(context_.get(), &reply), REDIS_OK) << context_->errstr;
    return Reply(static_cast<redisReply*>(reply));
  }
  void Append(const char* command) {
    ASSERT_EQ(redisAppendCommand(context_.get(), command), REDIS_OK);
  }

  std::unique_ptr<redisContext, Free> context_{
      redisConnectWithTimeout("127.0.0.1", server_.port("resp"), {5, 0})};
};

TEST_F(E2eHiredis, PipelinedAnswersComeInTheOrderOfTheCommands) {
  ASSERT_EQ(context_->err, 0) << context_->errstr;
  redisSetTimeout(context_.get(), {10, 0});
  constexpr int kRounds = 50;
  for (int i = 0; i < kRounds; ++i) {
    Append("WEIR.REQUEST shop search hiredis");
    Append("ECHO between");
    Append("WEIR.REQUEST shop");
    Append("CL.THROTTLE hiredis 4 5 86400");
  }
  for (int i = 0; i < kRounds; ++i) {
    const Reply asked = Next(), between = Next(), wrong = Next(), throttled = Next();
    ASSERT_TRUE(asked && between && wrong && throttled) << i;
    ASSERT_EQ(asked->type, REDIS_REPLY_ARRAY);
    EXPECT_STREQ(asked->element[0]->str, "allowed");
    EXPECT_EQ(asked->element[1]->integer, i < 10 ? 1 : 0) << i;
    EXPECT_STREQ(between->str, "between");
    EXPECT_EQ(wrong->type, REDIS_REPLY_ERROR);
    ASSERT_EQ(throttled->elements, 5u);
    EXPECT_EQ(throttled->element[0]->integer, i < 5 ? 0 : 1) << i;
  }
}

TEST_F(E2eHiredis, ArgumentsMayHoldAnyBytes) {
  ASSERT_EQ(context_->err, 0) << context_->errstr;
  const std::string key("a\0\r\n b", 6);
  const Reply reply(static_cast<redisReply*>(
      redisCommand(context_.get(), "CL.THROTTLE %b 4 5 86400", key.data(), key.size())));
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->type, REDIS_REPLY_ARRAY) << reply->str;
  EXPECT_EQ(reply->element[2]->integer, 4);
}

}  // namespace
}  // namespace weir::e2e::resp_clients_test

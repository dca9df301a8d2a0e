// The configuration API against the real server, over plain sockets.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "tests/config/postgres_server.h"
#include "tests/e2e/server_process.h"

namespace weir::e2e::config_test {
namespace {

using Json = nlohmann::json;

constexpr char kRules[] =
    "namespaces: {shop: {resources: {search: {limits: [{name: burst, limit: 3, per: 1h}]}}}}\n";
constexpr char kLimit[] = "/v1/config/namespaces/shop/resources/search/limits/burst";

struct Answer {
  int status = 0;
  std::string head;
  Json body;

  std::string Header(const std::string& name) const {
    const size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const size_t from = at + name.size() + 4;
    return head.substr(from, head.find("\r\n", from) - from);
  }
};

std::string Bytes(const std::string& method, const std::string& path, const std::string& body,
                  const std::string& headers) {
  return method + " " + path +
         " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

Answer Understood(const std::string& text) {
  Answer answer;
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return answer;
  answer.head = text.substr(0, end + 2);
  answer.status = std::atoi(text.c_str() + 9);
  answer.body = Json::parse(text.substr(end + 4), nullptr, false);
  return answer;
}

Answer Call(const ServerProcess& server, const std::string& method, const std::string& path,
            const std::string& body = "", const std::string& headers = "") {
  Socket socket(server.port("http"));
  socket.Send(Bytes(method, path, body, headers));
  return Understood(socket.ReadAll());
}

// What one more request leaves of the limit.
int Remaining(const ServerProcess& server) {
  const Answer answer = Call(server, "POST", "/v1/peek",
                             R"({"namespace":"shop","resource":"search","subject":"ann"})");
  return answer.status == 200 ? answer.body["limits"][0]["remaining"].get<int>() : -answer.status;
}

class E2eConfig : public ::testing::Test {
 protected:
  TemporaryFiles files_;
  std::string rules_ = files_.Write("rules.yaml", kRules);
};

TEST_F(E2eConfig, WhatIsWrittenIsInForceForTheNextRequest) {
  ServerProcess server({"--seed", rules_});
  const int before = Remaining(server);
  const Answer patched = Call(server, "PATCH", kLimit, R"({"limit":30})");
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(patched.body["version"], 2);
  EXPECT_EQ(patched.body["value"], Json::parse(R"({"name":"burst","limit":30,"per":"1h"})"));
  EXPECT_EQ(patched.body["normalised"], Json::array());
  EXPECT_EQ(patched.Header("ETag"), "\"2\"");
  EXPECT_EQ(Remaining(server), before + 27);

  const Answer made = Call(server, "PUT", "/v1/config/namespaces/shop/resources/a%2Fb%20c",
                           R"({"limits":[{"name":"x","limit":1,"per":"1s"}]})");
  EXPECT_EQ(made.status, 201) << made.body;
  const Answer names = Call(server, "GET", "/v1/config/namespaces/shop/resources?names=true");
  EXPECT_EQ(names.body, Json::parse(R"(["a/b c","search"])"));
  EXPECT_EQ(Call(server, "GET", kLimit).body["limit"], 30);
  EXPECT_EQ(Call(server, "DELETE", "/v1/config/namespaces/shop/resources/a%2Fb%20c").status, 204);
  EXPECT_EQ(Call(server, "DELETE", "/v1/config/namespaces/shop/resources/a%2Fb%20c").status, 404);
  EXPECT_EQ(Call(server, "DELETE", "/v1/config/namespaces/shop").status, 204);
  EXPECT_EQ(Remaining(server), -404);
  const Answer back = Call(server, "POST", "/v1/config/rollback", R"({"version":1})");
  EXPECT_EQ(back.status, 200) << back.body;
  EXPECT_EQ(Remaining(server), before);

  const Answer audit = Call(server, "GET", "/v1/config/audit?limit=2");
  ASSERT_EQ(audit.body["entries"].size(), 2u) << audit.body;
  EXPECT_EQ(audit.body["entries"][0]["version"], 6);
  EXPECT_EQ(audit.body["entries"][0]["who"], "127.0.0.1");
  EXPECT_EQ(audit.body["entries"][1]["after"], nullptr);
}

// Numbers at the ends of what they may be: each is an answer, and the server serves on.
TEST_F(E2eConfig, NumbersOfQueriesMayBeAnything) {
  const ServerProcess server({"--seed", rules_});
  for (const std::string path :
       {"/v1/config/audit?limit=", "/v1/config/audit?before=", "/v1/config?since="}) {
    for (const std::string number : {"0", "1", "9007199254740993", "18446744073709551615"}) {
      const Answer answer = Call(server, "GET", path + number);
      EXPECT_EQ(answer.status, path + number == "/v1/config/audit?limit=0" ? 400 : 200)
          << path << number << answer.body;
    }
    for (const std::string number : {"-1", "18446744073709551616", "1e3", "x", ""}) {
      EXPECT_EQ(Call(server, "GET", path + number).status, 400) << path << number;
    }
  }
  const Answer none = Call(server, "GET", "/v1/config/audit?limit=0");
  EXPECT_EQ(none.body["error"]["field"], "limit") << none.body;
}

TEST_F(E2eConfig, BadWritesAreRefusedWithOneClearError) {
  ServerProcess server({"--seed", rules_});
  const auto fails = [&](const std::string& method, const std::string& path,
                         const std::string& body, int status, const std::string& code,
                         const std::string& headers = "") {
    const Answer answer = Call(server, method, path, body, headers);
    EXPECT_EQ(answer.status, status) << method << " " << path << " " << body << answer.body;
    ASSERT_TRUE(answer.body.is_object());
    EXPECT_EQ(answer.body["error"]["code"], code) << answer.body;
  };
  const std::string shop = "/v1/config/namespaces/shop";
  fails("PUT", kLimit, R"({"limit":"x","per":"1h"})", 400, "bad_request");
  fails("PUT", kLimit, R"({"limit":1,"limit":2,"per":"1h"})", 400, "bad_request");
  fails("PUT", kLimit, "limit: 3", 400, "bad_request");
  fails("PUT", kLimit, "", 400, "bad_request");
  fails("PUT", kLimit, "{\"limit\":1", 400, "bad_request");
  fails("PUT", kLimit, std::string(5000, '[') + std::string(5000, ']'), 400, "bad_request");
  fails("PUT", kLimit, "\xff\xfe{}", 400, "bad_request");
  fails("PUT", shop + "/nothing", "{}", 404, "not_found");
  fails("PUT", "/v1/config/", "{}", 400, "bad_request");
  fails("PUT", shop + "/", "{}", 400, "bad_request");
  fails("PUT", "/v1/config/namespaces/a%00b", "{}", 400, "bad_request");
  fails("PUT", "/v1/config/namespaces/%zz", "{}", 400, "bad_request");
  fails("GET", "/v1/config/namespaces/none", "", 404, "unknown_namespace");
  fails("PATCH", shop + "/resources/none", "{}", 404, "not_found");
  fails("PUT", "/v1/config/namespaces/none/resources/x", "{}", 404, "unknown_namespace");
  fails("PUT", kLimit, R"({"limit":1,"per":"1h"})", 412, "conflict", "If-Match: \"77\"\r\n");
  fails("PUT", kLimit, R"({"limit":1,"per":"1h"})", 412, "conflict", "If-Match: W/\"1\"\r\n");
  fails("PUT", kLimit, R"({"limit":1,"per":"1h"})", 412, "conflict", "If-None-Match: *\r\n");
  fails("POST", "/v1/config/rollback", R"({"version":77})", 404, "not_found");
  fails("POST", "/v1/config/rollback", R"({"version":-1})", 400, "bad_request");
  fails("GET", "/v1/config?since=x", "", 400, "bad_request");
  fails("POST", "/v1/config/rollback", R"({"version":0})", 401, "unauthenticated",
        "Origin: https://evil.example\r\n");
  const Answer field = Call(server, "PUT", kLimit, R"({"limit":1,"per":"0s"})");
  EXPECT_EQ(field.body["error"]["field"], "namespaces.shop.resources.search.limits[0].per");
  EXPECT_EQ(Call(server, "PUT", kLimit, std::string(2'000'000, ' ')).status, 413);
  EXPECT_EQ(Call(server, "GET", shop).Header("ETag"), "\"1\"");
  EXPECT_EQ(
      Call(server, "PUT", kLimit, R"({"limit":1,"per":"1h"})", "If-Match: \"5\", \"1\"\r\n").status,
      200);
}

TEST_F(E2eConfig, AReaderWaitsForAChange) {
  ServerProcess server({"--seed", rules_});
  const Answer all = Call(server, "GET", "/v1/config?since=0");
  EXPECT_EQ(all.body["version"], 1);
  EXPECT_EQ(all.body["full"], true);
  EXPECT_EQ(all.body["changes"][0]["namespace"], "shop");

  Socket waiting(server.port("http"));
  waiting.Send(Bytes("GET", "/v1/config?since=1&wait_ms=30000", "", ""));
  {
    Socket gone(server.port("http"));  // nobody minds
    gone.Send(Bytes("GET", "/v1/config?since=1&wait_ms=30000", "", ""));
  }
  EXPECT_EQ(Call(server, "GET", "/v1/config?since=1&wait_ms=1").body["changes"], Json::array());
  EXPECT_EQ(Call(server, "PUT", "/v1/config/namespaces/b", "{}").status, 201);
  const Answer changed = Understood(waiting.ReadAll());
  EXPECT_EQ(changed.status, 200);
  EXPECT_EQ(changed.body["changes"], Json::parse(R"([{"namespace":"b","value":{}}])"));

  Socket last(server.port("http"));
  last.Send(Bytes("GET", "/v1/config?since=2&wait_ms=30000", "", ""));
  EXPECT_EQ(Remaining(server), 3);
  server.Signal(SIGTERM);
  EXPECT_EQ(Understood(last.ReadAll()).status, 200) << "stopping waits for nobody";
  EXPECT_EQ(server.WaitForEnd(), 0) << server.log();
}

TEST_F(E2eConfig, WithFilesItOnlyReads) {
  ServerProcess server({"--config", rules_});
  const Answer read = Call(server, "GET", kLimit);
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.body["limit"], 3);
  const Answer write = Call(server, "PATCH", kLimit, R"({"limit":30})");
  EXPECT_EQ(write.status, 409);
  EXPECT_EQ(write.body["error"]["code"], "read_only");
  EXPECT_EQ(Call(server, "POST", "/v1/config/rollback", R"({"version":0})").status, 409);

  Socket waiting(server.port("http"));
  waiting.Send(Bytes("GET", "/v1/config?since=1&wait_ms=30000", "", ""));
  files_.Write("rules.yaml", "namespaces: {}\n");
  EXPECT_EQ(Understood(waiting.ReadAll()).body["changes"],
            Json::parse(R"([{"namespace":"shop","value":null}])"));
}

TEST_F(E2eConfig, ItIsThereAfterARestartAndTheSeedIsNotReadAgain) {
  const std::string data = files_.path() + "/data/below";
  {
    ServerProcess server({"--data", data, "--seed", rules_});
    EXPECT_EQ(Call(server, "PATCH", kLimit, R"({"limit":7})").status, 200);
    server.Signal(SIGKILL);
    server.WaitForEnd();
  }
  ServerProcess server({"--data", data, "--seed", rules_});
  EXPECT_EQ(Remaining(server), 7);
}

TEST_F(E2eConfig, TokensOpenTheirNamespaceOnly) {
  const std::string tokens = files_.Write("tokens", "r read shop\nw write shop\nall write *\n");
  ServerProcess server({"--seed", rules_, "--token-file", tokens});
  const auto call = [&](const std::string& method, const std::string& path, const std::string& body,
                        const std::string& token) {
    const std::string header = token.empty() ? "" : "Authorization: Bearer " + token + "\r\n";
    return Call(server, method, path, body, header);
  };
  const std::string other = "/v1/config/namespaces/other", patch = R"({"limit":4})";
  EXPECT_EQ(call("GET", kLimit, "", "").status, 401);
  EXPECT_EQ(call("GET", "/v1/config", "", "wrong").status, 401);
  EXPECT_EQ(call("GET", kLimit, "", "r").status, 200);
  EXPECT_EQ(call("PATCH", kLimit, patch, "r").status, 403);
  EXPECT_EQ(call("PATCH", kLimit, patch, "w").status, 200);
  EXPECT_EQ(call("PUT", other, "{}", "w").status, 403);
  EXPECT_EQ(call("PUT", other, "{}", "all").status, 201);
  EXPECT_EQ(call("GET", "/v1/config/namespaces?names=true", "", "r").body, Json::array({"shop"}));
  EXPECT_EQ(call("GET", "/v1/config?since=0", "", "r").body["changes"].size(), 1u);
  EXPECT_EQ(call("GET", "/v1/config/audit", "", "r").status, 403);
  EXPECT_EQ(call("GET", "/v1/config/audit?namespace=shop", "", "r").status, 200);
  EXPECT_EQ(call("POST", "/v1/config/rollback", R"({"version":1})", "w").status, 403);
  const Answer audit = call("GET", "/v1/config/audit", "", "all");
  EXPECT_EQ(audit.body["entries"][0]["who"], "127.0.0.1 token 5ef5ef03") << "sha256 of all";
}

// Until both have the limit, or a second has passed.
bool AgreeWithinASecond(const ServerProcess& server, int remaining) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (std::chrono::steady_clock::now() < until) {
    if (Remaining(server) == remaining) return true;
  }
  return false;
}

void TwoServersAgree(const std::string& database, const std::string& seed) {
  ServerProcess a({"--database", database, "--seed", seed});
  ServerProcess b({"--database", database, "--seed", seed});
  EXPECT_EQ(Remaining(a), 3) << a.log();
  EXPECT_EQ(Remaining(b), 3) << b.log();
  EXPECT_EQ(Call(a, "PATCH", kLimit, R"({"limit":8})").status, 200);
  EXPECT_EQ(Remaining(a), 8);
  EXPECT_TRUE(AgreeWithinASecond(b, 8));
  EXPECT_EQ(Call(b, "PATCH", kLimit, R"({"limit":9})", "If-Match: \"1\"\r\n").status, 412);
  EXPECT_EQ(Call(b, "PATCH", kLimit, R"({"limit":9})", "If-Match: \"2\"\r\n").status, 200);
  EXPECT_TRUE(AgreeWithinASecond(a, 9));
}

TEST_F(E2eConfig, TwoServersOnOneFileAgreeWithinASecond) {
  TwoServersAgree(files_.path() + "/shared.db", rules_);
}

TEST_F(E2eConfig, TwoServersOnOnePostgresAgreeWithinASecondAndOutliveIt) {
  PostgresServer postgres;
  if (postgres.url().empty()) GTEST_SKIP() << "PostgreSQL is not installed or did not start";
  TwoServersAgree(postgres.url(), rules_);

  ServerProcess server({"--database", postgres.url()});
  EXPECT_EQ(Remaining(server), 9);
  postgres.Kill();
  EXPECT_EQ(Call(server, "PATCH", kLimit, R"({"limit":5})").status, 503);
  EXPECT_EQ(Call(server, "GET", kLimit).body["limit"], 9) << "what is in force";
  EXPECT_EQ(Remaining(server), 9);
  EXPECT_TRUE(server.WaitForLog("warning database_away: ")) << server.log();
  EXPECT_EQ(Call(server, "GET", "/readyz").status, 200) << "it has rules";
  EXPECT_EQ(Call(server, "GET", "/readyz").body["problems"][0]["code"], "database_away");
  ServerProcess early({"--database", postgres.url()});
  EXPECT_EQ(Call(early, "GET", "/readyz").status, 503);
  postgres.Start();
  EXPECT_TRUE(AgreeWithinASecond(early, 9));
  EXPECT_EQ(Call(early, "GET", "/readyz").status, 200);
  EXPECT_EQ(Call(early, "GET", "/readyz").body["problems"], Json::array());
  EXPECT_EQ(Call(server, "PATCH", kLimit, R"({"limit":5})").status, 200);
}

TEST_F(E2eConfig, TheCommandLineExportsImportsAndCompares) {
  ServerProcess server({"--seed", rules_});
  const std::string address = "127.0.0.1:" + std::to_string(server.port("http"));
  const auto weir = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {WEIR_BINARY, "config"});
    return RunProgram(words);
  };
  const Finished exported = weir({"export", "--server", address});
  EXPECT_EQ(exported.exit_code, 0) << exported.output;
  const std::string copy = files_.Write("copy.yaml", exported.output);
  EXPECT_EQ(weir({"diff", copy, "--server", address}).output, "");
  const std::string other = files_.Write(
      "other.yaml",
      "namespaces: {shop: {enforcement: \"off\", resources: {search: {limits: []}}}, b: {}}\n");
  const Finished diff = weir({"diff", other, "--server", address});
  EXPECT_EQ(diff.exit_code, 1);
  EXPECT_NE(diff.output.find("+ namespaces.b: "), std::string::npos) << diff.output;
  EXPECT_NE(diff.output.find("~ namespaces.shop.resources.search.limits: "), std::string::npos);
  EXPECT_EQ(weir({"import", other, "--server", address}).output, "version 2\n");
  EXPECT_EQ(
      weir({"import", files_.Write("bad.yaml", "namespaces: 7\n"), "--server", address}).exit_code,
      2);

  const std::string file = files_.path() + "/direct.db";
  EXPECT_EQ(weir({"import", copy, "--database", file}).output, "version 1\n");
  const Finished json = weir({"export", "--database", file, "--format", "json"});
  EXPECT_EQ(
      Json::parse(json.output)["namespaces"]["shop"]["resources"]["search"]["limits"][0]["limit"],
      3);
}

TEST_F(E2eConfig, TheApiDescribesItself) {
  ServerProcess server({"--seed", rules_});
  const Answer answer = Call(server, "GET", "/v1/openapi.json");
  EXPECT_EQ(answer.body["openapi"], "3.1.0");
  EXPECT_TRUE(answer.body["paths"].contains("/v1/config/namespaces/{namespace}"));
}

}  // namespace
}  // namespace weir::e2e::config_test

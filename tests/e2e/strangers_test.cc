// What strangers get from the real server: rebound names, proxies, pages of other sites, tokens that
// are too small or gone, and answers that are too large.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "tests/e2e/server_process.h"

namespace weir::e2e::strangers_test {
namespace {

using Json = nlohmann::json;

constexpr char kRules[] =
    "namespaces: {shop: {resources: {search: {limits: [{name: burst, limit: 30, per: 1h}]}}}}\n";
constexpr char kLimit[] = "/v1/config/namespaces/shop/resources/search/limits/burst";
constexpr char kAsk[] = R"({"namespace":"shop","resource":"search","subject":"ann"})";

struct Told {
  int status = 0;
  std::string head, body;
};

Told Call(const ServerProcess& server, const std::string& method, const std::string& path,
          const std::string& body, const std::string& headers,
          const std::string& host = "localhost") {
  Socket socket(server.port("http"));
  socket.Send(method + " " + path + " HTTP/1.1\r\nHost: " + host +
              "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
              headers + "\r\n" + body);
  const std::string text = socket.ReadAll();
  const size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return {};
  return {std::atoi(text.c_str() + 9), text.substr(0, end), text.substr(end + 4)};
}

std::string Bearer(const std::string& token) {
  return token.empty() ? "" : "Authorization: Bearer " + token + "\r\n";
}

std::string Resp(const ServerProcess& server, const std::string& commands) {
  Socket socket(server.port("resp"));
  socket.Send(commands + "QUIT\r\n");
  return socket.ReadAll();
}

class E2eStrangers : public ::testing::Test {
 protected:
  std::string Tokens(const std::string& text) {
    const std::string path = files_.Write("tokens", text);
    chmod(path.c_str(), 0600);
    return path;
  }
  TemporaryFiles files_;
  std::string rules_ = files_.Write("rules.yaml", kRules);
};

TEST_F(E2eStrangers, LoopbackIsNotWhoComesThroughItOrByAnotherName) {
  ServerProcess server({"--seed", rules_, "--trusted-hops", "127.0.0.0/8"});
  const std::string limit = R"({"limit":31})";
  for (const char* path :
       {"/v1/config/namespaces", "/v1/config?since=0", "/v1/config/audit", "/v1/stats",
        "/v1/stats?namespace=shop&resource=search", "/v1/cluster", kLimit}) {
    EXPECT_EQ(Call(server, "GET", path, "", "", "evil.example:8080").status, 401) << path;
    EXPECT_EQ(Call(server, "GET", path, "", "X-Forwarded-For: 8.8.8.8\r\n").status, 401) << path;
    EXPECT_EQ(Call(server, "GET", path, "", "Origin: https://evil.example\r\n").status, 401)
        << path;
    EXPECT_NE(Call(server, "GET", path, "", "").status, 401) << path;
  }
  EXPECT_EQ(Call(server, "PATCH", kLimit, limit, "X-Forwarded-For: 8.8.8.8\r\n").status, 401);
  EXPECT_EQ(Call(server, "PATCH", kLimit, limit, "Via: 1.1 proxy\r\n").status, 401);
  EXPECT_EQ(Call(server, "PATCH", kLimit, limit, "", "evil.example").status, 401);
  EXPECT_EQ(
      Call(server, "POST", "/v1/config/rollback", R"({"version":0})", "", "evil.example").status,
      401);
  EXPECT_EQ(Call(server, "PATCH", kLimit, limit, "").status, 200);
}

TEST_F(E2eStrangers, PagesOfOtherSitesAskOnlyWhereTheyAreListed) {
  ServerProcess server({"--config", rules_, "--cors", "https://shop.example,https://b.example"});
  const std::string plain = "Content-Type: text/plain\r\n";
  EXPECT_EQ(
      Call(server, "POST", "/v1/request", kAsk, plain + "Origin: https://evil.example\r\n").status,
      403);
  const Told told =
      Call(server, "POST", "/v1/request", kAsk, plain + "Origin: https://b.example\r\n");
  EXPECT_EQ(told.status, 200) << told.body;
  EXPECT_NE(told.head.find("Access-Control-Allow-Origin: https://b.example"), std::string::npos);
  EXPECT_EQ(Call(server, "OPTIONS", "/v1/request", "",
                 "Origin: https://shop.example\r\nAccess-Control-Request-Method: POST\r\n")
                .status,
            204);
  ServerProcess wrong({"--config", rules_, "--cors", "shop.example"});
  EXPECT_EQ(wrong.WaitForEnd(), 1);
  EXPECT_NE(wrong.log().find("--cors: \"shop.example\" is not an origin"), std::string::npos);
  // A page can make its browser send HTTP to any port.
  const std::string answer =
      Resp(server, "POST / HTTP/1.1\r\nHost: x\r\n\r\nWEIR.REQUEST shop search a\r\n");
  EXPECT_EQ(answer, "-ERR this is not the port for HTTP\r\n");
}

// Whatever the API describes, with the token of one namespace: nothing of another's is shown or changed.
TEST_F(E2eStrangers, NoPathTellsATokenOfAnotherNamespace) {
  const std::string tokens = Tokens("r read bank\nw write bank\nd decide bank\nall write *\n");
  ServerProcess server({"--config", rules_, "--token-file", tokens});
  const auto all = [&](const std::string& path) {
    return Call(server, "GET", path, "", Bearer("all")).body;
  };
  const Json api = Json::parse(all("/v1/openapi.json"));
  const std::string before = all(kLimit);
  const std::map<std::string, std::string> names = {
      {"{namespace}", "shop"}, {"{resource}", "search"}, {"{name}", "burst"}};
  size_t asked = 0;
  for (const auto& [described, operations] : api["paths"].items()) {
    if (described == "/v1/openapi.json") continue;  // is for everybody, and speaks of a shop
    std::string path = described;
    for (const auto& [name, value] : names) {
      const size_t at = path.find(name);
      if (at != std::string::npos) path.replace(at, name.size(), value);
    }
    for (const auto& [method, operation] : operations.items()) {
      std::string verb = method;
      std::transform(verb.begin(), verb.end(), verb.begin(), [](char c) { return c & ~0x20; });
      if (verb == "PARAMETERS") continue;
      for (const char* token : {"r", "w", "d", ""}) {
        for (const char* query : {"", "?namespace=shop"}) {
          const std::string body = verb == "GET" ? "" : kAsk;
          const Told told = Call(server, verb, path + query, body, Bearer(token));
          EXPECT_EQ(told.body.find("shop\""), std::string::npos)
              << verb << " " << path << query << " with " << token << ": " << told.body;
          ++asked;
        }
      }
    }
  }
  EXPECT_GT(asked, 100u);
  EXPECT_EQ(all(kLimit), before);
  const std::string stats = all("/v1/stats?namespace=shop");
  EXPECT_EQ(Json::parse(stats).dump().find("ann"), std::string::npos) << "nothing was decided";
}

TEST_F(E2eStrangers, HttpAndRespAskForATokenOnTheSameOperations) {
  const std::string tokens =
      Tokens("r read shop\nd decide *\ns decide shop\nm metrics *\nall write *\nb decide bank\n");
  const auto decides = [](const ServerProcess& server, const std::string& token) {
    const bool http = Call(server, "POST", "/v1/request", kAsk, Bearer(token)).status == 200;
    const std::string auth = token.empty() ? "" : "AUTH " + token + "\r\n";
    const std::string told = Resp(server, auth + "WEIR.REQUEST shop search ann\r\n");
    const bool resp =
        told.find("NOAUTH") == std::string::npos && told.find("NOPERM") == std::string::npos;
    EXPECT_EQ(http, resp) << token << ": " << told;
    return http;
  };
  {
    ServerProcess server({"--config", rules_, "--token-file", tokens});
    for (const char* token : {"", "wrong", "m", "b"}) EXPECT_FALSE(decides(server, token)) << token;
    for (const char* token : {"r", "d", "s", "all"}) EXPECT_TRUE(decides(server, token)) << token;
    EXPECT_EQ(Call(server, "GET", "/metrics", "", "").status, 401);
    EXPECT_EQ(Call(server, "GET", "/metrics", "", Bearer("r")).status, 403);
    EXPECT_EQ(Call(server, "GET", "/metrics", "", Bearer("d")).status, 403);
    EXPECT_EQ(Call(server, "GET", "/metrics", "", Bearer("m")).status, 200);
    EXPECT_EQ(Call(server, "GET", "/metrics", "", Bearer("all")).status, 200);
    EXPECT_EQ(Call(server, "POST", "/v1/request", kAsk, Bearer("b")).status, 403);
    EXPECT_EQ(Resp(server, "AUTH s\r\nCL.THROTTLE k 1 1 1\r\n").substr(5, 7), "-NOPERM");
    EXPECT_EQ(Resp(server, "AUTH d\r\nCL.THROTTLE k 1 1 1\r\n").substr(5, 4), "*5\r\n");
    EXPECT_EQ(Call(server, "GET", "/healthz", "", "").status, 200);
    EXPECT_EQ(Call(server, "GET", "/v1/openapi.json", "", "").status, 200);
  }
  ServerProcess open(
      {"--config", rules_, "--token-file", tokens, "--decisions-open", "--metrics-open"});
  EXPECT_TRUE(decides(open, ""));
  EXPECT_EQ(Resp(open, "AUTH wrong\r\n").substr(0, 10), "-WRONGPASS");
  EXPECT_EQ(Call(open, "GET", "/metrics", "", "").status, 200);
  EXPECT_EQ(Call(open, "GET", "/v1/stats", "", "").status, 401);
  ServerProcess pool({"--config", rules_, "--token-file", tokens, "--poolcounter", "127.0.0.1:0"});
  EXPECT_EQ(pool.WaitForEnd(), 1);
}

TEST_F(E2eStrangers, TokensAreReadAgainOnSighup) {
  const std::string tokens = Tokens("old write *\n");
  ServerProcess server({"--seed", rules_, "--token-file", tokens});
  Socket logged_in(server.port("resp"));
  logged_in.Send("AUTH old\r\nPING\r\n");
  EXPECT_EQ(logged_in.ReadUntil("PONG\r\n"), "+OK\r\n+PONG\r\n");
  Tokens("new write *\n");
  server.Signal(SIGHUP);
  ASSERT_TRUE(server.WaitForLog("are in force"));
  EXPECT_EQ(Call(server, "GET", kLimit, "", Bearer("old")).status, 401);
  EXPECT_EQ(Call(server, "GET", kLimit, "", Bearer("new")).status, 200);
  logged_in.Send("PING\r\n");
  EXPECT_EQ(logged_in.ReadUntil("\r\n").substr(0, 7), "-NOAUTH") << "who was in is out";
  chmod(tokens.c_str(), 0666);
  server.Signal(SIGHUP);
  ASSERT_TRUE(server.WaitForLog("the old tokens stay"));
  EXPECT_EQ(Call(server, "GET", kLimit, "", Bearer("new")).status, 200);
  ServerProcess refused({"--config", rules_, "--token-file", tokens});
  EXPECT_EQ(refused.WaitForEnd(), 1);
  EXPECT_NE(refused.log().find("chmod go-w"), std::string::npos) << refused.log();
}

TEST_F(E2eStrangers, ATokenVouchesForALargeBodyHoweverItIsShown) {
  ServerProcess server({"--seed", rules_, "--token-file", Tokens("boss write *\n")});
  Json overrides = Json::array();
  for (int i = 0; i < 2000; ++i) {
    overrides.push_back({{"subject", "somebody-with-a-long-name-" + std::to_string(i)},
                         {"limits", {{{"name", "burst"}, {"limit", 7}}}}});
  }
  const std::string path = "/v1/config/namespaces/shop/resources/search/overrides";
  for (const char* scheme : {"Bearer ", "bearer ", "BEARER  "}) {
    const std::string header = std::string("Authorization: ") + scheme + "boss\r\n";
    EXPECT_EQ(Call(server, "PUT", path, overrides.dump(), header).status / 100, 2) << scheme;
  }
}

TEST_F(E2eStrangers, WhoeverWaitsForChangesIsAskedAgain) {
  const std::string tokens = Tokens("old read shop\nboss write *\n");
  ServerProcess server({"--seed", rules_, "--token-file", tokens});
  const uint64_t version =
      Json::parse(Call(server, "GET", "/v1/config", "", Bearer("old")).body)["version"];
  Socket waits(server.port("http"));
  waits.Send("GET /v1/config?wait_ms=30000&since=" + std::to_string(version) +
             " HTTP/1.1\r\nHost: localhost\r\n" + Bearer("old") + "\r\n");
  Tokens("boss write *\n");
  server.Signal(SIGHUP);
  ASSERT_TRUE(server.WaitForLog("are in force"));
  EXPECT_EQ(Call(server, "PATCH", kLimit, R"({"limit": 77})", Bearer("boss")).status, 200);
  EXPECT_EQ(waits.ReadUntil("\r\n"), "HTTP/1.1 401 Unauthorized\r\n");
}

TEST_F(E2eStrangers, LargeWritesOfOneNamespaceStayBounded) {
  const std::string tokens = Tokens("w write big\nall write *\n");
  ServerProcess server({"--seed", rules_, "--token-file", tokens});
  Json overrides = Json::array();
  for (int i = 0; i < 8000; ++i) {
    overrides.push_back({{"subject", "somebody-with-a-long-name-" + std::to_string(i)},
                         {"limits", {{{"name", "m"}, {"limit", 7}}}}});
  }
  for (int i = 0; i < 30; ++i) {
    overrides[0]["limits"][0]["limit"] = i;
    const Json body = {{"resources",
                        {{"r" + std::to_string(i),
                          {{"limits", {{{"name", "m"}, {"limit", 9}, {"per", "1h"}}}},
                           {"overrides", overrides}}}}}};
    const Told told = Call(server, "PUT", "/v1/config/namespaces/big", body.dump(), Bearer("w"));
    ASSERT_TRUE(told.status == 200 || told.status == 201)
        << told.status << told.body.substr(0, 300);
  }
  std::string next = "/v1/config/audit?namespace=big&limit=1000";
  size_t pages = 0, entries = 0;
  while (!next.empty() && pages < 100) {
    const Told told = Call(server, "GET", next, "", Bearer("w"));
    ASSERT_EQ(told.status, 200);
    EXPECT_LT(told.body.size(), size_t{4} << 20);
    const Json page = Json::parse(told.body);
    entries += page["entries"].size();
    next = page["next"].is_null() ? "" : page["next"].get<std::string>();
    ++pages;
  }
  EXPECT_GT(pages, 10u);
  EXPECT_GT(entries, 10u);
  EXPECT_LE(entries, 30u);
#ifndef WEIR_SANITIZED
  EXPECT_LT(server.resident_bytes(), size_t{500} << 20);
#endif
  EXPECT_EQ(
      Json::parse(
          Call(server, "GET", "/v1/config/audit?namespace=shop", "", Bearer("all")).body)["entries"]
          .size(),
      1u)
      << "nobody else's history went";
}

TEST_F(E2eStrangers, WhatIsKeptIsForTheOwner) {
  const std::string data = files_.path() + "/data";
  const auto mode = [](const std::string& path) {
    struct stat info {};
    return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  };
  {
    ServerProcess server({"--data", data, "--seed", rules_});
    EXPECT_EQ(mode(data), 0700u);
    for (const char* file : {"/state.db", "/state.db-wal", "/state.db-shm", "/weir.db",
                             "/weir.db-wal", "/holds", "/lock"}) {
      EXPECT_EQ(mode(data + file), 0600u) << file;
    }
    server.Signal(SIGTERM);
    EXPECT_EQ(server.WaitForEnd(), 0);
  }
  chmod(data.c_str(), 0755);
  chmod((data + "/state.db").c_str(), 0644);
  ServerProcess server({"--data", data, "--seed", rules_});
  EXPECT_EQ(mode(data + "/state.db"), 0600u);
  EXPECT_EQ(mode(data), 0755u);
  EXPECT_NE(server.log().find("state.db: others had rights to it"), std::string::npos)
      << server.log();
  EXPECT_NE(server.log().find("chmod 700 keeps them out"), std::string::npos) << server.log();
}

}  // namespace
}  // namespace weir::e2e::strangers_test

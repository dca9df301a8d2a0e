// The API's description and the server's routes are the same: what is answered is described, what is
// described is answered, and whoever needs a token is told so.
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>

#include <nlohmann/json.hpp>
#include <set>

#include "config/config_path.h"
#include "server/routes/openapi.h"
#include "server/server.h"
#include "weir/clock.h"

namespace weir::openapi_routes_test {
namespace {

using Words = std::vector<std::string>;

class OpenApiRoutes : public ::testing::Test {
 protected:
  OpenApiRoutes() {
    settings_.http = "127.0.0.1:0";
    settings_.grpc = settings_.resp = std::string(kOff);
    settings_.threads = 1;
    server_ = std::make_unique<Server>(
        settings_, clock_,
        std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::null_sink_mt>()));
    started_ = server_->Start();
  }
  void SetUp() override { ASSERT_TRUE(started_ && server_->http_routes() != nullptr); }
  const http::RouteTable& routes() const { return *server_->http_routes(); }

  // "get", "put", …, of a path; without what all methods share.
  static std::vector<std::string> MethodsOf(const nlohmann::json& path) {
    std::vector<std::string> methods;
    for (const auto& [name, operation] : path.items()) {
      if (name != "parameters") methods.push_back(name);
    }
    return methods;
  }
  static std::string Upper(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(c));
    return text;
  }
  static std::string Lower(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(c));
    return text;
  }
  // With "x" for every name in braces.
  static std::string Filled(std::string_view path) {
    std::string filled;
    for (size_t at = 0; at < path.size(); ++at) {
      if (path[at] != '{') {
        filled += path[at];
        continue;
      }
      filled += 'x';
      at = path.find('}', at);
    }
    return filled;
  }
  static Words Split(std::string_view path) {
    Words words;
    while (!path.empty()) {
      const size_t end = std::min(path.find('/'), path.size());
      if (end > 0) words.emplace_back(path.substr(0, end));
      path.remove_prefix(std::min(end + 1, path.size()));
    }
    return words;
  }
  static std::string Join(const Words& words) {
    std::string path;
    for (const std::string& word : words) path += "/" + word;
    return path;
  }

  const nlohmann::json api_ = nlohmann::json::parse(OpenApi());
  const nlohmann::json& paths_ = api_["paths"];
  SystemClock clock_;
  Settings settings_;
  std::unique_ptr<Server> server_;
  bool started_ = false;
};

TEST_F(OpenApiRoutes, WhatIsAnsweredIsDescribed) {
  ASSERT_GT(routes().List().size(), 20u);
  for (const auto& [method, path, what] : routes().List()) {
    const bool prefix = path.ends_with('*');
    const std::string start = path.substr(0, path.size() - (prefix ? 1 : 0));
    bool described = false;
    for (const auto& [known, operations] : paths_.items()) {
      const bool is_it = prefix ? known.starts_with(start) : known == path;
      described = described || (is_it && operations.contains(Lower(method)));
    }
    EXPECT_TRUE(described) << method << " " << path << " is not in server/routes/openapi.cc";
  }
}

TEST_F(OpenApiRoutes, WhatIsDescribedIsAnswered) {
  for (const auto& [path, operations] : paths_.items()) {
    for (const std::string& method : MethodsOf(operations)) {
      EXPECT_NE(routes().Find(Upper(method), Filled(path)).handler, nullptr)
          << method << " " << path << " has no route";
    }
  }
}

// Nothing of it is for everybody but what the table of operations says.
TEST_F(OpenApiRoutes, WhoeverNeedsATokenIsToldSo) {
  for (const auto& [path, operations] : paths_.items()) {
    for (const std::string& method : MethodsOf(operations)) {
      const Operation what = routes().Find(Upper(method), Filled(path)).what;
      const bool open = what == Operation::kHealth || what == Operation::kDescribe;
      const nlohmann::json& operation = operations[method];
      EXPECT_EQ(operation.contains("security"), open) << method << " " << path;
      for (const char* status : {"401", "403"}) {
        EXPECT_EQ(operation["responses"].contains(status), !open)
            << method << " " << path << " " << status;
      }
    }
  }
}

// Every path that the configuration has (config/config_path.h), found by trying every word that a rule or a
// path has, and no other.
TEST_F(OpenApiRoutes, EveryPathOfTheConfigurationIsDescribed) {
  constexpr std::string_view kBase = "/v1/config";
  std::set<std::string> described, words = {"namespaces"};
  for (const auto& [path, operations] : paths_.items()) {
    if (!path.starts_with(std::string(kBase) + "/namespaces")) continue;
    described.insert(Filled(path.substr(kBase.size())));
    for (const std::string& word : Split(path)) words.insert(word);
  }
  for (const auto& [name, schema] : api_["components"]["schemas"].items()) {
    if (!schema.contains("properties")) continue;
    for (const auto& [property, of] : schema["properties"].items()) words.insert(property);
  }
  std::set<std::string> known;
  std::vector<Words> ends = {{}};
  while (!ends.empty()) {
    const Words end = std::move(ends.back());
    ends.pop_back();
    const auto take = [&](const std::string& word) {
      Words longer = end;
      longer.push_back(word);
      if (!ConfigPath::Parse(longer)) return false;
      known.insert(Join(longer));
      ends.push_back(std::move(longer));
      return true;
    };
    if (take("x")) continue;  // whatever the name is
    for (const std::string& word : words) take(word);
  }
  EXPECT_EQ(described, known);
}

}  // namespace
}  // namespace weir::openapi_routes_test

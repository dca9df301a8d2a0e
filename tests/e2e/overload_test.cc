// A server that is asked for more than it can do.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "tests/e2e/server_process.h"

namespace weir::e2e::overload_test {
namespace {

constexpr char kRules[] =
    "namespaces: {shop: {resources: {search: {limits: [{limit: 1000000000, per: 1s}]}}}}\n";
constexpr char kAsk[] =
    "GET /v1/auth?namespace=shop&resource=search&subject=ann HTTP/1.1\r\nHost: h\r\n\r\n";

size_t Count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size()) ++n;
  return n;
}

class E2eOverload : public ::testing::Test {
 protected:
  uint64_t Metric(const ServerProcess& server, const std::string& name) {
    const std::string all = HttpGet(server.port("http"), "/metrics");
    const size_t at = all.find("\n" + name + " ");
    EXPECT_NE(at, std::string::npos) << name;
    return at == std::string::npos ? 0 : std::stoull(all.substr(at + name.size() + 2));
  }

  TemporaryFiles files_;
  std::string rules_ = files_.Write("rules.yaml", kRules);
};

// With a deadline that nobody can keep.
TEST_F(E2eOverload, WhatIsLateIsToldAndNotDecidedAndEverythingIsAnswered) {
  constexpr int kConnections = 8, kEach = 3000;
  ServerProcess server({"--config", rules_, "--threads", "1", "--deadline", "1us"});
  std::string all;
  for (int i = 0; i < kEach; ++i) all += kAsk;
  std::vector<std::string> answers(kConnections);
  std::vector<std::thread> clients;
  for (std::string& answer : answers) {
    clients.emplace_back([&] {
      Socket socket(server.port("http"));
      std::thread sender([&] {
        socket.Send(all);
        socket.CloseSending();
      });
      answer = socket.ReadAll();
      sender.join();
    });
  }
  for (std::thread& client : clients) client.join();
  size_t decided = 0, told = 0;
  for (const std::string& answer : answers) {
    const size_t yes = Count(answer, "HTTP/1.1 200 "), no = Count(answer, "HTTP/1.1 503 ");
    EXPECT_EQ(yes + no, static_cast<size_t>(kEach));
    EXPECT_EQ(no, Count(answer, "\"code\":\"overloaded\""));
    decided += yes, told += no;
  }
  EXPECT_GT(told, 0u);
  EXPECT_EQ(Metric(server, "weir_overloaded_total{front=\"http\"}"), told);
  EXPECT_EQ(Metric(server,
                   "weir_decisions_total{namespace=\"shop\",resource=\"search\",limit=\"\","
                   "outcome=\"admitted\"}"),
            decided);
}

// How soon is `weir-bench overload`'s to measure; here nobody is starved.
TEST_F(E2eOverload, ALightClientIsAnsweredWhileOthersFlood) {
  ServerProcess server({"--config", rules_, "--threads", "1"});
  std::string many;
  for (int i = 0; i < 500; ++i) many += kAsk;
  std::atomic<bool> ending{false};
  std::vector<std::unique_ptr<Socket>> sockets;
  std::vector<std::thread> flood;
  for (int i = 0; i < 4; ++i) {
    Socket& socket = *sockets.emplace_back(std::make_unique<Socket>(server.port("http")));
    flood.emplace_back([&] {
      while (!ending && socket.Send(many)) {
      }
      socket.CloseSending();
    });
    flood.emplace_back([&] { socket.ReadAll(); });
  }
  Socket light(server.port("http"));
  std::vector<double> waits;
  for (int i = 0; i < 15; ++i) {
    const auto began = std::chrono::steady_clock::now();
    light.Send(kAsk);
    EXPECT_TRUE(light.ReadUntil("\r\n\r\n").starts_with("HTTP/1.1 200 "));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    waits.push_back(took.count());
  }
  ending = true;
  for (std::thread& one : flood) one.join();
  std::sort(waits.begin(), waits.end());
  EXPECT_LT(waits[waits.size() / 2], 0.5);
}

}  // namespace
}  // namespace weir::e2e::overload_test

// The Redis protocol against servers that misbehave. Every server is a thread of the test.
#include <gtest/gtest.h>

#include <atomic>

#include "clients/cpp/src/resp_wire.h"
#include "tests/clients_cpp/fakes.h"
#include "tests/clients_cpp/tcp_server.h"

namespace weir::client::wire_test {
namespace {

const std::string kAllowed = "*4\r\n$7\r\nallowed\r\n:1\r\n$7\r\ngranted\r\n:1\r\n";
const std::string kGrantOfH1 =
    "*8\r\n$7\r\nallowed\r\n:1\r\n$7\r\noutcome\r\n$7\r\ngranted\r\n"
    "$7\r\ngranted\r\n:1\r\n$4\r\nhold\r\n$2\r\nh1\r\n";
const std::string kReleased = "*2\r\n$6\r\ncopies\r\n:0\r\n";

bool Has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

std::string CodeOfAsking(const TcpServer& server, Duration timeout = 300ms) {
  RespWire wire("", std::nullopt);
  return CodeOf([&] { wire.Ask({server.address(), {"PING"}, timeout}); });
}

TEST(ThreadedWire, AnswersMayComeInPieces) {
  const TcpServer server([](const Peer& peer) {
    while (!peer.Read().empty()) {
      for (const char c : kAllowed) peer.Send({c});
    }
  });
  Client client({.addresses = {server.address()}, .timeout = 5s, .fail_open = false});
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(client.Request("shop", "search", "ann").allowed);
}

TEST(ThreadedWire, ConnectionsAreUsedAgainButNotOnceTheServerHasHungUp) {
  std::atomic<int> connections = 0, ended = 0;
  const TcpServer server([&](const Peer& peer) {
    ++connections;
    for (int i = 0; i < 3 && !peer.Read().empty(); ++i) peer.Send(kAllowed);
    peer.HangUp();
    ++ended;
  });
  Client client({.addresses = {server.address()}, .timeout = 5s, .fail_open = false});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(client.Request("shop", "search", "ann").allowed);
  EXPECT_EQ(connections, 1);
  while (ended == 0) Clock::System()->Sleep(1ms);
  EXPECT_TRUE(client.Request("shop", "search", "ann").allowed);
  EXPECT_EQ(connections, 2);
}

TEST(ThreadedWire, WhatMakesNoSenseIsAFailure) {
  const TcpServer nonsense([](const Peer& peer) {
    peer.Read();
    peer.Send("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  EXPECT_EQ(CodeOfAsking(nonsense), "internal");
  const TcpServer hangs_up([](const Peer&) {});
  EXPECT_EQ(CodeOfAsking(hangs_up), "unavailable");
  const TcpServer endless([](const Peer& peer) {
    peer.Read();
    peer.Send("$500000000\r\n");
    while (peer.Send(std::string(65536, 'x'))) {
    }
  });
  EXPECT_EQ(CodeOfAsking(endless, 10s), "internal");
}

TEST(ThreadedWire, ADrippingServerCostsNoMoreThanTheDeadline) {
  std::atomic<bool> over = false;
  const TcpServer server([&](const Peer& peer) {
    peer.Read();
    peer.Send("$1000000\r\n");
    while (!over && peer.Send("x")) Clock::System()->Sleep(10ms);
  });
  const Duration start = Clock::System()->Now();
  EXPECT_EQ(CodeOfAsking(server), "deadline_exceeded");
  EXPECT_LT(Clock::System()->Now() - start, 1s);
  over = true;
}

TEST(ThreadedWire, AConnectionThatOwesAnAnswerToNobodyIsEnded) {
  std::atomic<bool> ended = false;
  const TcpServer server([&](const Peer& peer) {
    while (!peer.Read().empty()) {
    }
    ended = true;
  });
  Client client({.addresses = {server.address()}, .timeout = 50ms});
  EXPECT_EQ(client.Request("shop", "search", "ann").source, Source::kDegraded);
  for (int i = 0; i < 2000 && !ended; ++i) Clock::System()->Sleep(1ms);
  EXPECT_TRUE(ended);
}

TEST(ThreadedWire, TheTokenIsSentFirstAndAWrongOneIsTheCallersError) {
  const TcpServer server([](const Peer& peer) {
    const bool right = Has(peer.Read(), "AUTH\r\n$6\r\nsesame\r\n");
    peer.Send(right ? "+OK\r\n" : "-WRONGPASS invalid username-password pair\r\n");
    while (!peer.Read().empty()) peer.Send(kAllowed);
  });
  Client right({.addresses = {server.address()}, .timeout = 5s, .token = "sesame"});
  EXPECT_EQ(right.Request("shop", "search", "ann").source, Source::kServer);
  Client wrong({.addresses = {server.address()}, .timeout = 5s, .token = "please"});
  EXPECT_EQ(CodeOf([&] { wrong.Request("shop", "search", "ann"); }), "unauthenticated");
}

TEST(ThreadedWire, AGrantThatComesTooLateIsReleasedAndTheHoldOnItsConnectionStays) {
  std::atomic<int> reservations = 0;
  std::atomic<bool> answer_now = false, released = false;
  const TcpServer server([&](const Peer& peer) {
    for (std::string in; !(in = peer.Read()).empty();) {
      if (Has(in, "WEIR.RESERVE") && ++reservations == 2) {
        while (!answer_now) Clock::System()->Sleep(1ms);
        peer.Send("*4\r\n$7\r\nallowed\r\n:1\r\n$4\r\nhold\r\n$2\r\nh2\r\n");
        continue;
      }
      if (Has(in, "WEIR.RELEASE\r\n$2\r\nh2\r\n")) released = true;
      peer.Send(Has(in, "WEIR.RESERVE") ? kGrantOfH1 : kReleased);
    }
  });
  Client client({.addresses = {server.address()}, .timeout = 100ms});
  Hold hold = client.Reserve("shop", "seats", "ann");
  EXPECT_EQ(hold.source(), Source::kServer);
  EXPECT_EQ(client.Reserve("shop", "seats", "ann").source(), Source::kDegraded);
  answer_now = true;
  for (int i = 0; i < 2000 && !released; ++i) Clock::System()->Sleep(1ms);
  EXPECT_TRUE(released) << "though nobody asks anything";
  EXPECT_FALSE(hold.lost());
  EXPECT_EQ(hold.Release(), 0u);
}

TEST(ThreadedWire, ManyHoldsComeAndGoOnFewConnections) {
  std::atomic<int> connections = 0;
  const TcpServer server([&](const Peer& peer) {
    ++connections;
    for (std::string in; !(in = peer.Read()).empty();) {
      peer.Send(Has(in, "WEIR.RESERVE") ? kGrantOfH1 : kReleased);
    }
  });
  Client client({.addresses = {server.address()}, .timeout = 5s, .fail_open = false});
  std::vector<Hold> holds;
  for (int i = 0; i < 100; ++i) {
    holds.push_back(client.Reserve("shop", "seats", "ann"));
    client.Reserve("shop", "seats", "bob");
  }
  EXPECT_EQ(connections, 1);
  holds.clear();
  EXPECT_EQ(client.counters().releases_failed, 0u);
}

TEST(ThreadedWire, ACrowdSharesAClientWhileItsServerHangsUpNowAndThen) {
  const TcpServer server([&](const Peer& peer) {
    std::string in;
    for (int i = 0; !(in = peer.Read()).empty() && i < 40; ++i) {  // the last gets no answer
      if (Has(in, "WEIR.REQUEST")) {
        peer.Send(kAllowed);
      } else {
        peer.Send(Has(in, "WEIR.RESERVE") ? kGrantOfH1 : kReleased);
      }
    }
  });
  std::atomic<uint64_t> lost = 0, wrong = 0;
  Client client({.addresses = {server.address()},
                 .timeout = 5s,
                 .probe_after = 1ns,
                 .on_lost = [&](const LostHold& hold) { lost += hold.copies; }});
  std::vector<std::thread> crowd;
  for (int i = 0; i < 4; ++i) {
    crowd.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        if (!client.Request("shop", "search", "ann").allowed) ++wrong;
        const Hold first = client.Reserve("shop", "seats", "ann");
        const Hold second = client.Reserve("shop", "seats", "ann");
        if (!first.allowed() || !second.allowed()) ++wrong;
      }
    });
  }
  for (std::thread& thread : crowd) thread.join();
  EXPECT_EQ(wrong, 0u);
  // The last may be being told of.
  for (int i = 0; i < 2000 && lost != client.counters().holds_lost; ++i) {
    Clock::System()->Sleep(1ms);
  }
  EXPECT_EQ(lost, client.counters().holds_lost);
  EXPECT_GT(client.counters().recoveries, 0u);
}

}  // namespace
}  // namespace weir::client::wire_test

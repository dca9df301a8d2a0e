// The client against real servers: what they answer, and what is left when they are killed.
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "tests/clients_cpp/fakes.h"
#include "tests/e2e/server_process.h"

namespace weir::client::server_test {
namespace {

using e2e::ServerProcess;

constexpr char kRules[] = R"(
namespaces:
  shop:
    resources:
      search: {limits: [{name: burst, limit: 10, per: 1d}]}
      quick: {limits: [{name: burst, limit: 2, per: 1s}]}
      seats: {copies: {per_subject: 5, total: 8}}
      rooms: {copies: {per_subject: 3}}
)";

constexpr Duration kPatience = 10s;

template <typename Condition>
bool Eventually(const Condition& condition) {
  const std::shared_ptr<Clock> clock = Clock::System();
  for (const Duration end = clock->Now() + kPatience; clock->Now() < end; clock->Sleep(5ms)) {
    if (condition()) return true;
  }
  return false;
}

std::string AddressOf(int port) { return "127.0.0.1:" + std::to_string(port); }

// Where nobody listens.
std::string NoAddress() { return "127.0.0.1:1"; }

class ClientsCppServer : public ::testing::Test {
 protected:
  std::unique_ptr<ServerProcess> Start(int port = 0) {
    return std::make_unique<ServerProcess>(
        std::vector<std::string>{"--config", files_.Write("rules.yaml", kRules), "--threads", "1",
                                 "--http", "off", "--grpc", "off", "--resp", AddressOf(port)});
  }
  std::string address() const { return AddressOf(server_->port("resp")); }
  void Kill() {
    server_->Signal(SIGKILL);
    server_->WaitForEnd();
  }
  // Copies that ann holds, as another hold of hers is told.
  uint64_t Held() {
    const Hold hold = client_.Reserve("shop", "seats", "ann");
    EXPECT_EQ(hold.source(), Source::kServer);
    return hold.reservation().held - (hold.allowed() ? 1 : 0);
  }

  e2e::TemporaryFiles files_;
  std::unique_ptr<ServerProcess> server_ = Start();
  Client client_{{.addresses = {address()}, .timeout = 5s}};
};

TEST_F(ClientsCppServer, RequestPeekAndSettle) {
  const Decision first = client_.Request("shop", "search", "ann", {.cost = 4});
  EXPECT_TRUE(first.allowed);
  EXPECT_EQ(first.granted, 4u);
  EXPECT_EQ(first.remaining, 6u);
  EXPECT_EQ(first.limit, "burst");
  EXPECT_EQ(first.address, address());
  ASSERT_EQ(first.limits.size(), 1u);
  EXPECT_EQ(first.limits[0].limit, 10u);
  EXPECT_EQ(first.limits[0].per, 24h);
  EXPECT_EQ(client_.Peek("shop", "search", "ann").remaining, 6u);
  const Decision second = client_.Request("shop", "search", "ann", {.cost = 5, .settle = true});
  EXPECT_EQ(client_.Settle(second, 2).charged, 2u);
  EXPECT_EQ(client_.Request("shop", "search", "ann", {.cost = 100, .min_cost = 1}).granted, 4u);
  const Decision refused = client_.Request("shop", "search", "ann");
  EXPECT_FALSE(refused.allowed);
  EXPECT_GT(refused.retry_after, 1s);
  EXPECT_FALSE(client_.Request("shop", "search", "ann", {.cost = 11}).retry_after.has_value());
}

TEST_F(ClientsCppServer, ErrorsHaveCodes) {
  const auto request = [&](const char* ns, const char* resource, uint64_t cost = 1) {
    return CodeOf([&] { client_.Request(ns, resource, "ann", {.cost = cost}); });
  };
  EXPECT_EQ(request("none", "search"), "unknown_namespace");
  EXPECT_EQ(request("shop", "none"), "unknown_resource");
  EXPECT_EQ(request("shop", "seats"), "wrong_kind");
  EXPECT_EQ(request("shop", "search", UINT64_MAX), "bad_request");
  EXPECT_EQ(CodeOf([&] { client_.Reserve("shop", "search", "ann"); }), "wrong_kind");
  EXPECT_EQ(CodeOf([&] { client_.Settle(std::string(32, '0'), 1); }), "unknown_ticket");
  EXPECT_EQ(CodeOf([&] { client_.Seize(std::string(32, '0')); }), "unknown_transfer");
  EXPECT_EQ(CodeOf([&] { client_.Seize("nonsense"); }), "bad_request");
  EXPECT_FALSE(client_.degraded());
}

TEST_F(ClientsCppServer, WaitingEndsWithAGrant) {
  client_.Request("shop", "quick", "ann", {.cost = 2});
  const Decision decision = client_.Request("shop", "quick", "ann", {.max_wait = 5s});
  EXPECT_TRUE(decision.allowed);
  EXPECT_GT(decision.attempts, 1);
  EXPECT_GT(decision.waited, 500ms);
}

TEST_F(ClientsCppServer, ACrowdGetsExactlyTheLimit) {
  std::atomic<uint64_t> granted = 0, seats = 0;
  std::vector<std::thread> crowd;
  for (int i = 0; i < 8; ++i) {
    crowd.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        granted += client_.Request("shop", "search", "crowd").granted;
        const Hold hold = client_.Reserve("shop", "seats", "crowd", {.copies = 2});
        if (hold.allowed()) ++seats;
        EXPECT_LE(hold.reservation().held, 5u);
      }
    });
  }
  for (std::thread& thread : crowd) thread.join();
  EXPECT_EQ(granted, 10u);
  EXPECT_GT(seats, 0u);
  EXPECT_EQ(client_.Reserve("shop", "seats", "crowd", {.copies = 5}).granted(), 5u);
  EXPECT_EQ(client_.counters().releases_failed, 0u);
}

TEST_F(ClientsCppServer, ScopeReleasesWhatIsLeftAndAnotherClientSeesIt) {
  Client other({.addresses = {address()}, .timeout = 5s});
  {
    Hold hold = other.Reserve("shop", "seats", "ann", {.copies = 4});
    EXPECT_EQ(hold.copies(), 4u);
    EXPECT_EQ(hold.remaining(), 1u);
    EXPECT_EQ(hold.Release(1), 3u);
    EXPECT_EQ(Held(), 3u);
    const Hold refused = client_.Reserve("shop", "seats", "ann", {.copies = 5});
    EXPECT_FALSE(refused.allowed());
    EXPECT_EQ(refused.reservation().outcome, Outcome::kRefused);
    EXPECT_EQ(client_.Reserve("shop", "seats", "ann", {.copies = 5, .min_copies = 1}).granted(),
              2u);
  }
  EXPECT_EQ(Held(), 0u);
}

// Figure 6 of the paper on Charon.
TEST_F(ClientsCppServer, AnotherClientSeizesWhatWasTransferred) {
  Client other({.addresses = {address()}, .timeout = 5s});
  std::string transfer;
  {
    Hold hold = client_.Reserve("shop", "seats", "ann", {.copies = 5});
    transfer = hold.Transfer(3, 30s);
    EXPECT_EQ(hold.copies(), 2u);
  }
  EXPECT_EQ(Held(), 3u) << "they are held while nobody has seized them";
  {
    Hold seized = other.Seize(transfer);
    EXPECT_EQ(seized.namespace_name(), "shop");
    EXPECT_EQ(seized.resource(), "seats");
    EXPECT_EQ(seized.subject(), "ann");
    EXPECT_EQ(seized.copies(), 3u);
    EXPECT_EQ(seized.Release(1), 2u);
    EXPECT_EQ(Held(), 2u);
  }
  EXPECT_EQ(Held(), 0u);
  EXPECT_EQ(CodeOf([&] { other.Seize(transfer); }), "unknown_transfer");
}

TEST_F(ClientsCppServer, DestroyingTheClientReleasesWhatItHolds) {
  auto other = std::make_unique<Client>(address());
  Hold hold = other->Reserve("shop", "seats", "ann", {.copies = 5});
  EXPECT_EQ(Held(), 5u);
  other.reset();
  EXPECT_TRUE(Eventually([&] { return Held() == 0; }));
  EXPECT_FALSE(hold.lost());
  EXPECT_THROW(hold.Release(), HoldLost);
}

TEST_F(ClientsCppServer, InLineAReleaseIsWaitedForWhileOthersAreServed) {
  Hold first = client_.Reserve("shop", "seats", "ann", {.copies = 5});
  std::atomic<bool> started = false;
  std::thread waiter([&] {
    started = true;
    const Hold hold = client_.Reserve("shop", "seats", "ann",
                                      {.copies = 2, .max_wait = kPatience, .in_line = true});
    EXPECT_EQ(hold.copies(), 2u);
    EXPECT_EQ(hold.attempts(), 1);
    EXPECT_LT(hold.waited(), kPatience);
  });
  EXPECT_TRUE(Eventually([&] { return started.load(); }));
  Clock::System()->Sleep(50ms);
  EXPECT_TRUE(client_.Request("shop", "search", "ann").allowed);
  first.Release(2);
  waiter.join();
  const Hold late =
      client_.Reserve("shop", "seats", "ann", {.copies = 5, .max_wait = 100ms, .in_line = true});
  EXPECT_EQ(late.reservation().outcome, Outcome::kTimeout);
}

TEST_F(ClientsCppServer, AcquireAll) {
  const std::vector<Wanted> wanted = {Copies{"shop", "seats", "ann"},
                                      Copies{"shop", "rooms", "ann"},
                                      Rate{"shop", "search", "ann"}};
  {
    const Acquired acquired = client_.AcquireAll(wanted, {.min = 1, .max = 4});
    EXPECT_EQ(acquired.copies, 3u);
    EXPECT_EQ(Held(), 3u);
    EXPECT_EQ(client_.Peek("shop", "search", "ann").remaining, 7u);
  }
  EXPECT_EQ(Held(), 0u);
}

TEST_F(ClientsCppServer, AKilledServerLosesTheHoldTheClientDegradesAndReturns) {
  std::atomic<uint64_t> lost = 0;
  Client client({.addresses = {address()}, .timeout = 1s, .on_lost = [&](const LostHold& hold) {
                   lost += hold.copies;
                 }});
  const int port = server_->port("resp");
  Hold hold = client.Reserve("shop", "seats", "ann", {.copies = 2});
  ASSERT_EQ(hold.source(), Source::kServer);
  Kill();
  EXPECT_TRUE(Eventually([&] { return lost == 2; })) << "without being asked";
  EXPECT_TRUE(hold.lost());
  EXPECT_EQ(hold.copies(), 0u);
  EXPECT_THROW(hold.Release(), HoldLost);
  EXPECT_EQ(client.counters().holds_lost, 1u);

  const Decision decision = client.Request("shop", "search", "ann", {.cost = 5, .min_cost = 2});
  EXPECT_EQ(decision.granted, 2u);
  EXPECT_EQ(decision.source, Source::kDegraded);
  EXPECT_LT(decision.waited, 1s);
  EXPECT_TRUE(client.degraded());
  Client strict({.addresses = {AddressOf(port)}, .fail_open = false});
  EXPECT_THROW(strict.Request("shop", "search", "ann"), Unavailable);

  server_ = Start(port);
  EXPECT_TRUE(Eventually(
      [&] { return client.Request("shop", "search", "ann").source == Source::kServer; }));
  EXPECT_FALSE(client.degraded());
  EXPECT_EQ(client.counters().recoveries, 1u);
  EXPECT_TRUE(Eventually(
      [&] { return client.Reserve("shop", "seats", "ann").source() == Source::kServer; }));
}

TEST_F(ClientsCppServer, AServerThatHangsCostsNoMoreThanTheDeadline) {
  Client client({.addresses = {address()}, .timeout = 300ms});
  Hold hold = client.Reserve("shop", "seats", "ann", {.copies = 2});
  ASSERT_EQ(hold.source(), Source::kServer);
  const auto is_probed = [&] { Clock::System()->Sleep(400ms); };
  server_->Signal(SIGSTOP);
  const Decision decision = client.Request("shop", "search", "ann", {.max_wait = 60s});
  EXPECT_EQ(decision.source, Source::kDegraded);
  EXPECT_LT(decision.waited, 600ms);
  for (const bool in_line : {false, true}) {
    is_probed();
    const Hold other =
        client.Reserve("shop", "seats", "ann", {.max_wait = 60s, .in_line = in_line});
    EXPECT_EQ(other.source(), Source::kDegraded);
    EXPECT_LT(other.waited(), 600ms);
  }
  EXPECT_FALSE(hold.lost()) << "its connection stands";
  server_->Signal(SIGCONT);
  EXPECT_TRUE(Eventually(
      [&] { return client.Request("shop", "search", "ann").source == Source::kServer; }));
  // What was granted too late was given back.
  EXPECT_TRUE(Eventually([&] { return Held() == 2; }));
  EXPECT_EQ(hold.Release(), 0u);
  EXPECT_EQ(Held(), 0u);
}

TEST_F(ClientsCppServer, TheOtherServerTakesOverAndTheFirstIsPreferredOnceItIsBack) {
  const std::unique_ptr<ServerProcess> second = Start();
  const std::string other = AddressOf(second->port("resp"));
  const int port = server_->port("resp");
  Client client({.addresses = {address(), other}, .timeout = 2s});
  EXPECT_EQ(client.Request("shop", "search", "ann").address, address());
  Hold hold = client.Reserve("shop", "seats", "ann", {.copies = 2});
  Kill();
  EXPECT_EQ(client.Request("shop", "search", "ann").address, other);
  EXPECT_EQ(client.counters().failovers, 1u);
  EXPECT_FALSE(client.degraded());
  EXPECT_TRUE(Eventually([&] { return hold.lost(); }));
  hold = client.Reserve("shop", "seats", "ann", {.copies = 2});
  EXPECT_EQ(hold.source(), Source::kServer);
  server_ = Start(port);
  EXPECT_TRUE(Eventually(
      [&] { return client.Request("shop", "search", "bob").address == AddressOf(port); }));
  EXPECT_EQ(hold.Release(1), 1u) << "on the server where it is held";
  EXPECT_EQ(client.counters().degraded_grants, 0u);
}

TEST_F(ClientsCppServer, AnAddressWhereNobodyListensIsPassed) {
  Client client({.addresses = {NoAddress(), address()}, .timeout = 2s});
  EXPECT_EQ(client.Request("shop", "search", "ann").address, address());
  EXPECT_EQ(client.Reserve("shop", "seats", "ann").source(), Source::kServer);
}

TEST_F(ClientsCppServer, ATokenThatNobodyAskedForDoesNoHarm) {
  Client client({.addresses = {address()}, .timeout = 5s, .fail_open = false, .token = "sesame"});
  EXPECT_TRUE(client.Request("shop", "search", "ann").allowed);
}

TEST_F(ClientsCppServer, NamesOfHostsAreLookedUp) {
  const std::string port = std::to_string(server_->port("resp"));
  Client client({.addresses = {"localhost:" + port}, .timeout = 5s});
  EXPECT_EQ(client.Request("shop", "search", "ann").source, Source::kServer);
  Client lost({.addresses = {"no.such.host.invalid:" + port}, .timeout = 2s});
  const Decision decision = lost.Request("shop", "search", "ann");
  EXPECT_EQ(decision.source, Source::kDegraded);
  EXPECT_LT(decision.waited, 3s);
}

class ClientsCppTls : public ClientsCppServer {
 protected:
  std::string File(const std::string& name) const { return files_.path() + "/" + name; }
  void MakeCertificate(const std::string& name) {
    const e2e::Finished made = e2e::RunProgram(
        {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-days", "2", "-subj", "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", File(name + ".key"), "-out", File(name + ".crt")});
    ASSERT_EQ(made.exit_code, 0) << made.output;
  }
};

TEST_F(ClientsCppTls, OnlyWhomItTrustsAndOnlyWithItsOwnCertificate) {
  MakeCertificate("server");
  MakeCertificate("client");
  ServerProcess server({"--config", files_.Write("rules.yaml", kRules), "--http", "off", "--grpc",
                        "off", "--tls-cert", File("server.crt"), "--tls-key", File("server.key"),
                        "--tls-ca", File("client.crt")});
  const auto ask = [&](const TlsOptions& tls) {
    Client client({.addresses = {AddressOf(server.port("resp"))}, .timeout = 5s, .tls = tls});
    Hold hold = client.Reserve("shop", "seats", "ann", {.copies = 2});
    EXPECT_EQ(hold.Release(1), 1u);
    return client.Request("shop", "search", "ann").source;
  };
  const TlsOptions good{.ca_file = File("server.crt"),
                        .certificate_file = File("client.crt"),
                        .key_file = File("client.key")};
  EXPECT_EQ(ask(good), Source::kServer);
  TlsOptions bad = good;
  bad.ca_file = File("client.crt");
  EXPECT_EQ(ask(bad), Source::kDegraded);
  bad = good;
  bad.server_name = "elsewhere.example";
  EXPECT_EQ(ask(bad), Source::kDegraded);
  EXPECT_EQ(ask({.ca_file = File("server.crt")}), Source::kDegraded);
  EXPECT_EQ(ask({}), Source::kDegraded);
  EXPECT_EQ(CodeOf([&] { ask({.ca_file = "/nowhere"}); }), "bad_request");
  Client plain({.addresses = {AddressOf(server.port("resp"))}, .timeout = 1s});
  EXPECT_EQ(plain.Request("shop", "search", "ann").source, Source::kDegraded);
}

}  // namespace
}  // namespace weir::client::server_test

// Strangers that pin memory: little each, a bounded sum, and others are served meanwhile.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/e2e/server_process.h"

namespace weir::e2e::greed_test {
namespace {

constexpr char kRules[] =
    "namespaces: {shop: {resources: {search: {limits: [{limit: 1000000, per: 1h}]}}}}\n";
constexpr size_t kMiB = size_t{1} << 20;

std::string Frame(char type, char flags, uint32_t stream, const std::string& payload) {
  std::string frame;
  for (const int shift : {16, 8, 0}) frame += static_cast<char>(payload.size() >> shift);
  frame += type;
  frame += flags;
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>(stream >> shift);
  return frame + payload;
}

// A literal header that is not remembered; the length of its value has a prefix of 7 bits.
std::string Header(const std::string& name, const std::string& value) {
  std::string header("\0", 1);
  header += static_cast<char>(name.size());
  header += name;
  size_t rest = value.size();
  if (rest < 127) {
    header += static_cast<char>(rest);
  } else {
    header += '\x7f';
    for (rest -= 127; rest >= 128; rest /= 128) header += static_cast<char>(rest % 128 + 128);
    header += static_cast<char>(rest);
  }
  return header + value;
}

// The preface, and calls that never end, each with 15 KiB of headers.
std::string CallsWithoutEnd(int calls) {
  std::string bytes = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0, 0, "");
  for (int i = 0; i < calls; ++i) {
    const std::string headers =
        "\x83\x86" + Header(":authority", "x") + Header(":path", "/weir.v1.Limiter/Session") +
        Header("content-type", "application/grpc") +
        Header("authorization", std::string(7500, 'a')) + Header("x-fat", std::string(7500, 'x'));
    bytes += Frame(1, 4, static_cast<uint32_t>(2 * i + 1), headers);
  }
  return bytes;
}

class E2eGreed : public ::testing::Test {
 protected:
  std::string Metric(const ServerProcess& server, const std::string& name) {
    const std::string all = HttpGet(server.port("http"), "/metrics");
    const size_t at = all.find("\n" + name + " ");
    if (at == std::string::npos) return all;
    const size_t from = at + name.size() + 2;
    return all.substr(from, all.find('\n', from) - from);
  }
  // A certificate and its key for 127.0.0.1, as arguments of a server.
  std::vector<std::string> Tls() {
    const std::string base = files_.path() + "/a";
    EXPECT_EQ(RunProgram({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                          "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=a",
                          "-keyout", base + ".key", "-out", base + ".crt"})
                  .exit_code,
              0);
    return {"--config", rules_, "--tls-cert", base + ".crt", "--tls-key", base + ".key"};
  }
  static bool Serves(const ServerProcess& server) {
    Socket well(server.port("resp"));
    well.Send("PING\r\n");
    return well.ReadUntil("PONG\r\n") == "+PONG\r\n";
  }

  TemporaryFiles files_;
  std::string rules_ = files_.Write("rules.yaml", kRules);
};

TEST_F(E2eGreed, HeadersOfCallsThatDoNotEndPinLittle) {
  ServerProcess server({"--config", rules_, "--threads", "1", "--connection-memory", "64MiB"});
  ASSERT_TRUE(Serves(server));
  EXPECT_EQ(Metric(server, "weir_connection_bytes_most"), std::to_string(64 * kMiB));
  const size_t before = server.resident_bytes();
  const std::string bytes = CallsWithoutEnd(256);
  std::vector<std::unique_ptr<Socket>> crowd;
  for (int i = 0; i < 50; ++i) {
    crowd.push_back(std::make_unique<Socket>(server.port("grpc")));
    crowd.back()->Send(bytes);
  }
  EXPECT_TRUE(Serves(server));
#ifndef WEIR_SANITIZED
  EXPECT_LT(server.resident_bytes(), before + 16 * kMiB) << "of 200 MiB that were sent";
#else
  static_cast<void>(before);
#endif
}

TEST_F(E2eGreed, TheGreediestGoWhenAllTogetherTakeTooMuch) {
  ServerProcess server({"--config", rules_, "--threads", "2", "--connection-memory", "8MiB"});
  Socket well(server.port("http"));  // has asked before, and goes on
  const auto ask = [&] {
    well.Send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
    return well.ReadUntil("OK\n").starts_with("HTTP/1.1 200 ");
  };
  ASSERT_TRUE(ask());
  const size_t before = server.resident_bytes();
  const std::string half_a_command = "*2\r\n$4\r\nECHO\r\n$40000\r\n" + std::string(39'000, 'x');
  std::vector<std::unique_ptr<Socket>> crowd;
  for (int i = 0; i < 600; ++i) {
    crowd.push_back(std::make_unique<Socket>(server.port("resp")));
    crowd.back()->Send(half_a_command);
  }
  EXPECT_TRUE(Serves(server));
  EXPECT_TRUE(ask()) << "who takes little stays";
#ifndef WEIR_SANITIZED
  EXPECT_LT(server.resident_bytes(), before + 24 * kMiB);
#else
  static_cast<void>(before);
#endif
  const auto held = [&](const std::string& front) {
    return std::stoul(Metric(server, "weir_connection_bytes{front=\"" + front + "\"}"));
  };
  EXPECT_GT(held("resp"), kMiB);
  EXPECT_LE(held("resp"), 4 * kMiB) << "half of all";
  EXPECT_LT(held("http"), kMiB);
  EXPECT_NE(Metric(server, "weir_connections_greedy_total{front=\"resp\"}"), "0");
  EXPECT_EQ(Metric(server, "weir_connections_greedy_total{front=\"http\"}"), "0");
}

TEST_F(E2eGreed, AStrangerMaySendLittleAtOnce) {
  const std::string tokens = files_.Write("tokens", "secret write *\n");
  ServerProcess server({"--config", rules_, "--token-file", tokens});
  const std::string large(100'000, 'x');
  const std::string echo = "*2\r\n$4\r\nECHO\r\n$100000\r\n" + large + "\r\n";
  Socket stranger(server.port("resp")), friendly(server.port("resp"));
  stranger.Send(echo);
  EXPECT_TRUE(stranger.ReadAll().starts_with("-ERR Protocol error: too big command"));
  friendly.Send("AUTH secret\r\n");
  EXPECT_EQ(friendly.ReadUntil("\r\n"), "+OK\r\n");
  friendly.Send(echo);
  EXPECT_TRUE(friendly.ReadUntil(large + "\r\n").starts_with("$100000\r\n"));

  const auto post = [&](const std::string& headers) {
    Socket socket(server.port("http"));
    socket.Send("POST /v1/request HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n" + headers +
                "Content-Length: 100000\r\n\r\n" + large);
    return socket.ReadAll().substr(9, 3);
  };
  EXPECT_EQ(post(""), "413");
  EXPECT_EQ(post("Authorization: Bearer wrong\r\n"), "413");
  EXPECT_NE(post("Authorization: Bearer secret\r\n"), "413");
}

TEST_F(E2eGreed, AHandshakeThatDoesNotEndLosesItsConnection) {
  std::vector<std::string> arguments = Tls();
  arguments.insert(arguments.end(), {"--request-timeout", "300ms"});
  ServerProcess server(arguments);
  Socket silent(server.port("resp")), slow(server.port("grpc"));
  slow.Send("\x16\x03\x01\x02");
  silent.ReadAll();
  slow.ReadAll();
  EXPECT_TRUE(silent.closed_by_peer());
  EXPECT_TRUE(slow.closed_by_peer());
}

// A handshake takes three times of what a connection takes afterwards.
TEST_F(E2eGreed, HalfOpenHandshakesAreCountedForWhatTheyTake) {
  std::vector<std::string> arguments = Tls();
  arguments.insert(arguments.end(), {"--request-timeout", "60s", "--threads", "1"});
  ServerProcess server(arguments);
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port("http")) + "/metrics";
  const auto counted = [&] {
    const std::string all = RunProgram({"curl", "-sS", "-k", url}).output;
    const std::string name = "\nweir_connection_bytes{front=\"resp\"} ";
    const size_t at = all.find(name);
    return at == std::string::npos ? 0 : std::stoul(all.substr(at + name.size()));
  };
  EXPECT_EQ(counted(), 0u);
  const size_t before = server.resident_bytes();
  std::vector<std::unique_ptr<Socket>> crowd;
  for (int i = 0; i < 400; ++i) {
    crowd.push_back(std::make_unique<Socket>(server.port("resp")));
    crowd.back()->Send("\x16\x03\x01\x02");
  }
  size_t bytes = 0;
  for (int i = 0; i < 100 && (bytes = counted()) < 400 * 45'000; ++i) {
  }
  EXPECT_GE(bytes, 400u * 45'000);
#ifndef WEIR_SANITIZED
  const size_t resident = server.resident_bytes() - before;
  EXPECT_LT(resident, bytes + 4 * kMiB);
  EXPECT_GT(resident + 4 * kMiB, bytes);
#else
  static_cast<void>(before);
#endif
}

TEST_F(E2eGreed, CallsThatDoNotEndObeyTheRequestTimeout) {
  ServerProcess server({"--config", rules_, "--request-timeout", "300ms"});
  Socket socket(server.port("grpc"));
  socket.Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(4, 0, 0, "") +
              Frame(1, 4, 1,
                    "\x83\x86" + Header(":authority", "x") +
                        Header(":path", "/weir.v1.Limiter/Settle") +
                        Header("content-type", "application/grpc")));
  // HEADERS with END_STREAM on stream 1: the call was ended.
  EXPECT_NE(socket.ReadUntil(std::string("\x01\x05\x00\x00\x00\x01", 6))
                .find(std::string("\x01\x05\x00\x00\x00\x01", 6)),
            std::string::npos);
}

}  // namespace
}  // namespace weir::e2e::greed_test

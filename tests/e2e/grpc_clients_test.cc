// The gRPC port as grpcio and h2load see it. grpc++ is in grpcpp/.
#include <gtest/gtest.h>

#include <map>

#include "tests/e2e/server_process.h"

namespace weir::e2e::grpc_clients_test {
namespace {

const std::string kSource = WEIR_SOURCE_DIR;

std::string Local(const ServerProcess& server, const char* front) {
  return "127.0.0.1:" + std::to_string(server.port(front));
}

Finished Python(std::vector<std::string> words) {
  words.front() = kSource + "/tests/e2e/" + words.front();
  words.insert(words.begin(), {"/usr/bin/python3", "-B"});
  return RunProgram(words);
}

TEST(E2eGrpcClients, EveryMethodAnswersGrpcio) {
  ServerProcess server({"--config", kSource + "/tests/e2e/grpc_rules.yaml"});
  const Finished checked = Python({"grpc_client.py", Local(server, "grpc")});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
}

// Two servers, so that each way of asking finds counters that nobody has touched.
TEST(E2eGrpcClients, RatelimitsFilesAreAnsweredAlikeOverGrpcAndJson) {
  const std::map<std::string, std::string> folders = {{"readme", "/tests/e2e/ratelimit"},
                                                      {"example", "/examples/ratelimit"}};
  for (const auto& [questions, folder] : folders) {
    ServerProcess grpc({"--ratelimit-config", kSource + folder});
    ServerProcess json({"--ratelimit-config", kSource + folder});
    const Finished checked =
        Python({"ratelimit_client.py", questions, Local(grpc, "grpc"), Local(json, "http")});
    EXPECT_EQ(checked.exit_code, 0) << checked.output;
  }
}

// h2load sends what a file holds: one message behind its five bytes of frame.
TEST(E2eGrpcClients, H2loadsCallsAllSucceed) {
  TemporaryFiles files;
  ServerProcess server({"--config", kSource + "/tests/e2e/grpc_rules.yaml"});
  const std::string message =
      "\x0a\x03"
      "e2e\x12\x06"
      "search\x1a\x06"
      "h2load";
  std::string frame(5, '\0');
  frame[4] = static_cast<char>(message.size());
  const std::string body = files.Write("body", frame + message);
  const Finished run = RunProgram({"h2load", "-n", "2000", "-c", "4", "-m", "16", "-d", body, "-H",
                                   "content-type: application/grpc", "-H", "te: trailers",
                                   "http://" + Local(server, "grpc") + "/weir.v1.Limiter/Request"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.output.find("2000 succeeded, 0 failed, 0 errored, 0 timeout"), std::string::npos)
      << run.output;
  const std::string stats = HttpGet(server.port("http"), "/v1/stats?namespace=e2e&resource=search");
  EXPECT_NE(stats.find("\"total\":{\"admitted\":10,\"refused\":1990,"), std::string::npos) << stats;
}

}  // namespace
}  // namespace weir::e2e::grpc_clients_test

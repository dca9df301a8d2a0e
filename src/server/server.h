// A running server: the limiter, the fronts, the threads that carry them, and the rules' way in.
//
//   Server server(settings, clock, log);
//   server.Start();              listens and serves
//   server.Tick(now);            now and then: state expires, changed rules are read
//   server.Drain(); …            nobody new; open requests end
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <spdlog/logger.h>

#include "server/cluster_service.h"
#include "server/config_follower.h"
#include "server/config_service.h"
#include "server/data_directory.h"
#include "server/hold_mark.h"
#include "server/metrics.h"
#include "server/rules_source.h"
#include "server/settings.h"
#include "server/state_keeper.h"
#include "server/tokens.h"
#include "server/worker.h"

namespace weir {

class GrpcFront;
class HttpFront;

class Server {
 public:
  Server(const Settings& settings, Clock& clock, std::shared_ptr<spdlog::logger> log);
  ~Server();

  // False, having logged why, if something is wrong with the settings, the rules or an address.
  bool Start();
  void Tick(Instant now);
  // Reads rules and certificates again, now.
  void Reload(Instant now);
  void Drain();
  bool drained() const;
  void Stop();

  // Where each front listens: its name and address, for people and for tests that ask for port 0.
  struct Listening {
    std::string front;
    Address address;
    bool tls;
  };
  const std::vector<Listening>& listening() const { return listening_; }

 private:
  bool LoadSettings();
  bool CheckRole();
  bool OpenData();
  bool OpenCluster();
  void JoinCluster();
  bool MakeConfig();
  std::shared_ptr<const Rulebook> FirstRules();
  bool MakeLimiter(Instant now);
  bool MakeKeeper(Instant now);
  void Put(std::shared_ptr<const Rulebook> rules, Instant now);
  void MakeFronts();
  bool OpenPorts();
  bool OpenPort(Front& front, const std::string& address);
  void ReloadRules(Instant now);
  void AddServerRoutes(HttpFront& http);

  const Settings settings_;
  Clock& clock_;
  const std::shared_ptr<spdlog::logger> log_;

  Tokens tokens_;
  RulesSource source_;
  ReloadCounters reloads_;
  std::unique_ptr<DataDirectory> data_;  // null: nothing is kept
  std::unique_ptr<StateFile> states_;    // until the keeper has it
  std::unique_ptr<HoldMark> mark_;
  std::unique_ptr<Limiter> limiter_;
  std::unique_ptr<ClusterService> cluster_;  // null: no other nodes
  std::vector<std::unique_ptr<Front>> fronts_;
  GrpcFront* grpc_ = nullptr;  // one of fronts_
  std::vector<std::unique_ptr<Tls>> tls_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Listening> listening_;
  Instant looked_{};
  Instant copies_from_{};  // after a crash
  std::atomic<bool> draining_{false};
  std::unique_ptr<ConfigService> config_;  // ends before what it answers through
  std::unique_ptr<ConfigFollower> follower_;
  std::unique_ptr<StateKeeper> keeper_;
};

}  // namespace weir

// A running server: the limiter, the fronts, the threads that carry them, and the rules' way in.
//
//   Server server(settings, clock, log);
//   server.Start();              listens and serves
//   server.Tick(Turn(clock));    now and then: state expires, changed rules are read
//   server.Drain(); …            nobody new; open requests end
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <spdlog/logger.h>

#include "fronts/http/gate.h"
#include "fronts/http/route_table.h"
#include "server/access.h"
#include "server/cluster_service.h"
#include "server/config_follower.h"
#include "server/config_service.h"
#include "server/connections/worker.h"
#include "server/data/data_directory.h"
#include "server/data/hold_mark.h"
#include "server/data/state_keeper.h"
#include "server/metrics/metrics.h"
#include "server/problems.h"
#include "server/routes/report_thread.h"
#include "server/rules_source.h"
#include "server/settings.h"

namespace weir {

class GrpcFront;
class HttpFront;

// As an address of a front: there is none.
inline constexpr std::string_view kOff = "off";

class Server {
 public:
  Server(const Settings& settings, Clock& clock, std::shared_ptr<spdlog::logger> log);
  ~Server();

  // False, having logged why, if something is wrong with the settings, the rules or an address, or if
  // another node of the cluster bears this one's name.
  bool Start();
  // It bears the name of another node, and must end at once.
  bool name_taken() const { return cluster_ != nullptr && cluster_->yielded(); }
  void Tick(const Turn& now);
  // Reads rules and certificates again, now.
  void Reload();
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
  // What is answered over HTTP; null: nothing is.
  const http::RouteTable* http_routes() const;

 private:
  bool LoadSettings();
  http::GateOptions MakeGate() const;
  bool CheckRole();
  bool OpenData();
  bool OpenCluster();
  bool JoinCluster();
  bool MakeConfig();
  std::shared_ptr<const Rulebook> FirstRules();
  bool MakeLimiter();
  bool MakeKeeper();
  void Put(std::shared_ptr<const Rulebook> rules);
  void MakeFronts();
  bool OpenPorts();
  bool OpenPort(Front& front, const std::string& address);
  void ReloadRules();
  void AddServerRoutes(HttpFront& http);
  void TellWhetherReady();
  void TellWhatThisIs(const Rulebook& rules);
  std::string WhereRulesComeFrom() const;

  const Settings settings_;
  Clock& clock_;
  const std::shared_ptr<spdlog::logger> log_;

  Problems problems_;
  std::optional<bool> told_ready_;
  Access access_;
  RulesSource source_;
  ReloadCounters reloads_;
  std::unique_ptr<DataDirectory> data_;  // null: nothing is kept
  std::unique_ptr<StateFile> states_;    // until the keeper has it
  std::unique_ptr<HoldMark> mark_;
  std::unique_ptr<Limiter> limiter_;
  std::unique_ptr<ClusterService> cluster_;  // null: no other nodes
  std::vector<std::unique_ptr<Front>> fronts_;
  GrpcFront* grpc_ = nullptr;  // one of fronts_
  HttpFront* http_ = nullptr;  // another
  std::vector<std::unique_ptr<Tls>> tls_;
  std::unique_ptr<SharedBytes> connection_memory_;         // of all ports
  std::vector<std::unique_ptr<SharedBytes>> port_memory_;  // of each
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Listening> listening_;
  Instant looked_{};
  Instant copies_from_{};                  // after a crash
  std::unique_ptr<ConfigService> config_;  // ends before what it answers through
  std::unique_ptr<ConfigFollower> follower_;
  std::unique_ptr<StateKeeper> keeper_;
  ReportThread reports_;  // likewise
};

}  // namespace weir

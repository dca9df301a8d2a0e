// What `weir serve` can be told. Every flag is also an environment variable: --tls-cert is
// WEIR_TLS_CERT.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/client_stream.h"
#include "net/tls.h"
#include "weir/instant.h"

namespace weir {

enum class ServerRole {
  kAll,
  kConfig,   // the configuration API alone
  kLimiter,  // follows the configuration of another server
};

struct Settings {
  ServerRole role = ServerRole::kAll;
  // Where the rules are: in files, or else in a database that the configuration API changes.
  std::string config;            // a file or directory that is the truth: a change reloads
  std::string seed;              // fills the database if nothing was ever written to it
  std::string database;          // postgresql://…, or a file; empty: data/weir.db, or in memory
  std::string ratelimit_config;  // a directory in the format of envoyproxy/ratelimit
  std::string config_from;       // the address of a server whose configuration this one follows
  std::string config_token;      // that it wants
  ClientTls config_tls;          // how to talk to it, if by TLS

  std::string http = "127.0.0.1:8080";  // "off": not served
  std::string grpc = "127.0.0.1:8081";
  std::string resp = "127.0.0.1:6380";
  std::string poolcounter = "off";

  int threads = 0;  // 0: one for each core
  uint64_t memory_bytes = uint64_t{1} << 30;
  bool adhoc = true;
  // Of limits that have none of their own: local, replicated or replicated:counter|queue|debt.
  std::string adhoc_coordination = "local";      // those that requests carry
  std::string ratelimit_coordination = "local";  // those of ratelimit_config
  std::string data;                              // a directory for what is kept; empty: nothing is
  Duration persist_interval = std::chrono::milliseconds(100);
  std::string node = "local";
  // The cluster that this server is a node of.
  std::string cluster;           // the address for other nodes; empty: there are none
  std::string cluster_key_file;  // has the secret that they share
  std::string peers;             // where they are (cluster/net/peer_source.h)

  TlsFiles tls;
  std::string token_file;
  bool decisions_open = false;            // though there is a token file
  bool metrics_open = false;              // likewise
  std::vector<std::string> cors;          // origins whose pages may ask for decisions
  std::vector<std::string> trusted_hops;  // CIDRs

  uint64_t max_connections = 10'000;
  Duration request_timeout = std::chrono::seconds(10);  // for a request to come to its end
  uint64_t connection_memory = 0;                       // of all connections; 0: by the machine
  Duration deadline = std::chrono::milliseconds(20);    // for a request to be decided
  Duration drain_timeout = std::chrono::seconds(10);
  Duration session_timeout = std::chrono::seconds(15);  // until a client that was cut off is gone

  bool log_json = false;
  std::string log_level = "info";
};

}  // namespace weir

// A cluster of real servers on loopback: `weir serve`, as many processes as there are nodes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lab/live/program.h"
#include "replication/replica.h"

namespace weir::lab {

struct LiveOptions {
  std::string weir;  // the program
  uint32_t nodes = 8;
  ReplicatedBucket limit;
  // A resource of this name for each: counter, queue, debt; or central, which only one is asked for.
  std::vector<std::string> variants;
};

// To one node; for one thread.
class LiveConnection {
 public:
  explicit LiveConnection(int port);
  ~LiveConnection();
  LiveConnection(const LiveConnection&) = delete;
  LiveConnection& operator=(const LiveConnection&) = delete;

  // Whether it was allowed. Throws std::runtime_error if the node does not answer.
  bool Ask(const std::string& variant, const std::string& subject, uint64_t cost);

 private:
  const int port_, fd_;
};

class LiveCluster {
 public:
  // Waits until every node has heard of every other. Throws std::runtime_error.
  explicit LiveCluster(const LiveOptions& options);

  std::unique_ptr<LiveConnection> Connect(uint32_t node) const {
    return std::make_unique<LiveConnection>(nodes_[node].resp);
  }
  // As `weir cluster status` prints it.
  std::string Status() const;

 private:
  struct Node {
    std::unique_ptr<Program> server;
    int resp = 0, http = 0;  // ports
  };

  const LiveOptions options_;
  ScratchDirectory files_;
  std::vector<Node> nodes_;
};

}  // namespace weir::lab

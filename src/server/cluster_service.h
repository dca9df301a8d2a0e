// This server's part in a cluster (--cluster): its key, its node and the thread that runs it.
//
// The key file gives two secrets: what nodes say to each other is sealed with the one, and keys of
// limits are hashed with the other, so that all nodes name a key alike.
#pragma once

#include <spdlog/logger.h>

#include <array>
#include <memory>
#include <optional>

#include "cluster/net/cluster_thread.h"
#include "cluster/shared_limits.h"
#include "server/data_directory.h"
#include "server/settings.h"
#include "weir/limiter.h"

namespace weir {

// Reads a key file: not for everybody to read, and long enough.
Result<cluster::ClusterKey> LoadClusterKey(const std::string& path);

class ClusterService {
 public:
  // Listens already. `data` may be null.
  static Result<std::unique_ptr<ClusterService>> Open(const Settings& settings,
                                                      const DataDirectory* data, Clock& clock,
                                                      std::shared_ptr<spdlog::logger> log);
  ~ClusterService() { Stop(); }

  // The limiter's replicated limits are shared from now on, and tickets are settled at whatever node
  // they are brought to; before it is asked anything.
  void Share(Limiter& limiter);
  void Start();
  void Stop() { thread_->Stop(); }

  const std::array<uint64_t, 2>& hash_secret() const { return hash_secret_; }
  cluster::SharingCounts Sharing() const { return shared_->Counts(); }
  bool ready() const { return thread_->ready(); }
  void AwaitReady() const { thread_->AwaitReady(); }
  cluster::NodeStatus Status() { return thread_->Status(); }
  std::string address() const { return thread_->address(); }

 private:
  ClusterService() = default;

  std::array<uint64_t, 2> hash_secret_{};
  Limiter* limiter_ = nullptr;
  std::unique_ptr<cluster::SharedLimits> shared_;  // outlives the thread
  std::unique_ptr<cluster::ClusterThread> thread_;
};

// Empty, or what is wrong with the settings that belong together.
std::string ClusterProblem(const Settings& settings);

}  // namespace weir

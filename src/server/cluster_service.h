// This server's part in a cluster (--cluster): its key, its node and the thread that runs it.
//
// The key file gives two secrets: what nodes say to each other is sealed with the one, and keys of
// limits are hashed with the other, so that all nodes name a key alike. The first may be changed while the
// node runs; the second stays as it was at the start, for what is counted is named by it.
#pragma once

#include <spdlog/logger.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "cluster/net/cluster_thread.h"
#include "cluster/replicated_limits.h"
#include "mail/mailroom.h"
#include "server/data/data_directory.h"
#include "server/problems.h"
#include "server/settings.h"
#include "weir/limiter.h"

namespace weir {

// Reads a key file: not for everybody to read, and long enough.
Result<cluster::KeyRing> LoadClusterKeys(const std::string& path);

// The exit code of a server that has left its name to another: something is wrong with how it was
// configured (EX_CONFIG), and to start it again does not help.
inline constexpr int kExitNameTaken = 78;

class ClusterService {
 public:
  // Listens already. `data` may be null.
  static Result<std::unique_ptr<ClusterService>> Open(const Settings& settings,
                                                      const DataDirectory* data, Clock& clock,
                                                      std::shared_ptr<spdlog::logger> log,
                                                      Problems& problems);
  ~ClusterService() { Stop(); }

  // The limiter's replicated limits are shared from now on, and tickets are settled at whatever node
  // they are brought to; before it is asked anything.
  void Share(Limiter& limiter);
  void Start();
  void Stop() {
    if (thread_ != nullptr) thread_->Stop();
  }
  // Reads the key file again; if it is bad, the old keys stay.
  void ReloadKeys();
  // Raises what is wrong with the cluster, and clears what is not any more. From one thread, now and then.
  void TellProblems();
  // Another node bears this one's name, and this one must not answer any more.
  bool yielded() const { return yielded_.load(); }

  const std::array<uint64_t, 2>& hash_secret() const { return hash_secret_; }
  cluster::ReplicationCounts Replication() const { return replicated_->Counts(); }
  bool ready() const { return thread_->ready(); }
  void AwaitReady() const { thread_->AwaitReady(); }
  cluster::NodeStatus Status() { return thread_->Status(); }
  std::string address() const { return thread_->address(); }

 private:
  ClusterService() = default;

  std::string key_file_;
  std::shared_ptr<spdlog::logger> log_;
  Problems* problems_ = nullptr;
  std::set<std::pair<ProblemKind, std::string>> raised_;
  std::array<uint64_t, 2> hash_secret_{};
  std::atomic<bool> yielded_{false};
  Limiter* limiter_ = nullptr;
  std::unique_ptr<cluster::ReplicatedLimits> replicated_;  // outlives the thread
  Mailroom mailroom_;                                      // the same
  std::unique_ptr<cluster::ClusterThread> thread_;
};

// Empty, or what is wrong with the settings that belong together.
std::string ClusterProblem(const Settings& settings);
// What each node counts alone, though nobody has said that it should.
std::vector<std::string> PerNodeNotes(const Settings& settings);

}  // namespace weir

// The thread that runs a node: waits for its sockets and for its next tick, whichever is first.
//
//   auto thread = ClusterThread::Open(options);      its sockets are there, so its address is known
//   (*thread)->Start(correspondent);                 who may call Wake() from any thread
//   (*thread)->Stop();
//
// A node belongs to this thread. Whoever else looks at it takes the lock.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "cluster/net/cluster_sockets.h"
#include "cluster/net/peer_finder.h"
#include "cluster/net/state_streams.h"
#include "cluster/node.h"
#include "weir/clock.h"

namespace weir::cluster {

class ClusterThread final : private Transport {
 public:
  struct Options {
    std::string address;
    PeerSource peers;
    ClusterKey key;
    NodeOptions node;
  };

  static Result<std::unique_ptr<ClusterThread>> Open(Options options, Clock& clock);
  ~ClusterThread() { Stop(); }

  // `correspondent` outlives this.
  void Start(Correspondent& correspondent);
  void Stop();

  // From any thread: the correspondent has something to say earlier than it said it would.
  void Wake();
  bool ready() const { return ready_.load(std::memory_order_acquire); }
  void AwaitReady() const { ready_.wait(false, std::memory_order_acquire); }
  NodeStatus Status();
  std::string address() const { return sockets_.address.ToString(); }

 private:
  ClusterThread(Options options, Clock& clock, ClusterSockets sockets);

  void Send(const std::string& address, std::string_view datagram) override;
  void Fetch(const std::string& address, std::string question) override;

  void Run();
  void WaitUntil(Instant next, std::vector<pollfd>& waiting);
  void Handle(const std::vector<pollfd>& ready);
  void Receive(Instant now);
  void TakeMembers(Instant now);
  void ClearWake();

  const Options options_;
  Clock& clock_;
  const ClusterSockets sockets_;
  const FileDescriptor wake_;
  std::unique_ptr<PeerFinder> finder_;
  std::thread thread_;
  std::atomic<bool> stopping_{false}, woken_{false}, ready_{false};

  std::mutex mutex_;  // guards what follows
  std::unique_ptr<Node> node_;
  StateStreams streams_;

  std::mutex found_mutex_;
  std::optional<std::vector<Member>> found_;  // guarded by it; until the thread takes them
};

}  // namespace weir::cluster

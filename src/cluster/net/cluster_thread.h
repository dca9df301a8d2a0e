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
    KeyRing keys;
    NodeOptions node;
    // It sends, answers and takes nothing before: its life may not begin yet (server/data/incarnation.h).
    Instant silent_until = {};
    // Called on the thread, once: the node has given up its name to another (Node::yielded).
    std::function<void(const std::string& why)> yielded = {};
  };

  static Result<std::unique_ptr<ClusterThread>> Open(Options options, Clock& clock);
  ~ClusterThread() { Stop(); }

  // `correspondent` outlives this; `answer` (NodeOptions) may be empty.
  void Start(Correspondent& correspondent,
             std::function<std::string(std::string_view, Instant)> answer = {});
  void Stop();

  // From any thread: the correspondent has something to say earlier than it said it would.
  void Wake();
  // From any thread, see Node::Ask. `done` is called on this thread.
  void Ask(std::function<bool(std::string_view id)> is_it, std::string question,
           Node::AnswerDone done);
  // From any thread: other keys from now on.
  void SetKeys(KeyRing keys);
  bool ready() const { return ready_.load(std::memory_order_acquire); }
  // Until it is ready, or has given up its name.
  void AwaitReady() const { decided_.wait(false, std::memory_order_acquire); }
  NodeStatus Status();
  std::string address() const { return sockets_.address.ToString(); }

 private:
  ClusterThread(Options options, Clock& clock, ClusterSockets sockets);

  void Send(const std::string& address, std::string_view datagram) override;
  void Fetch(const std::string& address, std::string question) override;

  void Run();
  void KeepSilent();
  void WaitUntil(Instant next, std::vector<pollfd>& waiting);
  void Handle(const std::vector<pollfd>& ready);
  void Receive(Instant now);
  void TakeMembers(Instant now);
  void TakeQuestions(Instant now);
  void TakeKeys();
  void Decided();
  void ClearWake();

  const Options options_;
  Clock& clock_;
  const ClusterSockets sockets_;
  const FileDescriptor wake_;
  std::unique_ptr<PeerFinder> finder_;
  std::thread thread_;
  std::atomic<bool> stopping_{false}, woken_{false}, ready_{false};
  std::atomic<bool> decided_{false};  // it is ready, or never will be

  std::mutex mutex_;  // guards what follows
  std::unique_ptr<Node> node_;
  StateStreams streams_;

  struct Question {
    std::function<bool(std::string_view id)> is_it;
    std::string text;
    Node::AnswerDone done;
  };
  std::mutex left_mutex_;                     // guards what others leave here for the thread:
  std::optional<std::vector<Member>> found_;  // the members, when they change
  std::optional<KeyRing> new_keys_;
  std::vector<Question> asked_;
  bool ended_ = false;  // it takes nothing more
};

}  // namespace weir::cluster

// Looks up where the peers are, in a thread of its own, since looking up a name may take long; again
// every half minute, and at once when a file has changed. What cannot be looked up stays as it was.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cluster/membership.h"
#include "cluster/net/peer_source.h"

namespace weir::cluster {

class PeerFinder {
 public:
  using Found = std::function<void(std::vector<Member>)>;
  using Note = std::function<void(const std::string&)>;

  // `own`: where this node listens. `found` is called in the thread, when something has changed.
  PeerFinder(PeerSource source, std::string self, const SocketAddress& own, Found found, Note note);
  ~PeerFinder() { Stop(); }

  void Start();
  void Stop();

 private:
  void Run();
  void Look();
  void ReadFile();
  std::vector<Member> LookUpNamed();
  std::vector<Member> LookUpDns();
  void Complain(const std::string& trouble);

  const std::string self_;
  const SocketAddress own_;
  const Found found_;
  const Note note_;
  std::thread thread_;

  // Of the thread alone.
  PeerSource source_;
  std::string file_text_;
  std::vector<Member> members_;
  bool told_ = false;
  bool missing_ = false;                      // something was not found: look again soon
  std::map<std::string, std::string> known_;  // addresses of names
  std::string trouble_;                       // what was last complained of

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
};

}  // namespace weir::cluster

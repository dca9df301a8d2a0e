// Looks up where the peers are, in a thread of its own, since looking up a name may take long; again
// every half minute, every second while one is not found, and at once when a file has changed.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cluster/membership.h"
#include "cluster/net/peer_lookup.h"
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
  // Noted once, until it is another or has ended.
  class Trouble {
   public:
    explicit Trouble(const Note& note) : note_(note) {}
    void Set(const std::string& text) {
      if (std::exchange(text_, text) != text && !text.empty()) note_(text);
    }

   private:
    const Note& note_;
    std::string text_;
  };

  void Run();
  bool Look();
  void ReadFile();

  const std::string self_;
  const Found found_;
  const Note note_;
  std::thread thread_;

  // Of the thread alone.
  PeerSource source_;
  PeerLookup lookup_;
  std::string file_text_;
  std::optional<std::vector<Member>> members_;  // as they were told
  Trouble file_trouble_{note_}, name_trouble_{note_};

  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
};

}  // namespace weir::cluster

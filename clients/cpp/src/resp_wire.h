// The Redis protocol: connections to servers, opened when all others are in use, and kept.
//
// A connection on which something is held is used for holds alone: a request that is not answered in
// time ends its connection, and should end nobody's hold. A reservation that waits has a connection on
// which nothing is held yet, for whatever is said behind it would wait as well.
//
// A thread watches the connections on which something is held, so that a hold is told at once when it
// is lost, and a grant that comes too late is given back.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "clients/cpp/src/connection.h"
#include "clients/cpp/src/tls.h"
#include "weir/client/options.h"
#include "weir/client/wire.h"

namespace weir::client {

class RespWire : public Wire {
 public:
  RespWire(std::string token, const std::optional<TlsOptions>& tls);
  ~RespWire() override;
  Answer Ask(const Question& question) override;
  void Close() override;

 private:
  // A connection and who uses it.
  struct Line {
    explicit Line(std::string to) : address(std::move(to)) {}

    const std::string address;
    std::atomic<int> keepers = 0;  // answers and holds that refer to it
    // With mutex_:
    std::shared_ptr<Connection> connection;
    bool busy = true;      // a question is being asked, or it is being opened
    bool watched = false;  // holds may live on it
    bool gone = false;     // no longer in lines_
  };
  using LinePtr = std::shared_ptr<Line>;

  LinePtr Take(const Question& question);
  LinePtr TakeThat(const Session& session, Duration deadline);
  // What a server answered to the token, if that was an error.
  std::optional<Value> Open(Line& line, Duration deadline);
  std::shared_ptr<Session> Keep(const LinePtr& line) const;
  void PutBack(const LinePtr& line, bool broken);

  // With mutex_.
  LinePtr FindFree(const Question& question, std::vector<LinePtr>& ended);
  bool IsWorthKeeping(const Line& line) const;
  void Remove(const LinePtr& line);
  void StartToWatch(Line& line);

  void Watch();
  void Look(const LinePtr& line, bool hung_up);
  void Wake() const;

  const std::string token_;
  const std::optional<TlsContext> tls_;
  const int wake_;  // an eventfd

  std::mutex mutex_;  // guards:
  std::condition_variable freed_;
  std::vector<LinePtr> lines_;
  std::thread watcher_;
  bool closed_ = false;
};

}  // namespace weir::client

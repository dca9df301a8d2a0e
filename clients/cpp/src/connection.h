// A connection to a server: a question, its answer, in this order. It is the session of the holds
// that were granted on it.
//
// An answer that does not come in time is owed: the connection is good, and the next to use it reads
// that answer first. If it granted something, nobody wants it any more, and it is released.
//
// Used by one thread at a time (resp_wire.h), but for what says otherwise.
#pragma once

#include <hiredis/read.h>

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "clients/cpp/src/stream.h"
#include "weir/client/wire.h"

namespace weir::client {

class Connection : public Session {
 public:
  // Connects. Throws Failure.
  Connection(const std::string& address, const TlsContext* tls, Duration deadline);
  ~Connection() override;

  // Throws Failure: after kDeadlineExceeded the answer is owed, after any other it has ended.
  Value Ask(const std::vector<std::string>& words, Duration deadline, bool undo_if_late);
  void ReadOwed(Duration deadline);
  bool owes() const { return owes_; }  // any thread

  // From any thread.
  void Shut() { stream_.Shut(); }
  bool HungUp() const { return stream_.HungUp(); }
  int descriptor() const { return stream_.descriptor(); }

 private:
  struct ReaderDeleter {
    void operator()(redisReader* reader) const;
  };
  enum class Owed { kIgnored, kUndone };

  void Say(const std::vector<std::string>& words);
  Value Next(Duration deadline);
  void Owe(Owed what);

  Stream stream_;
  const std::unique_ptr<redisReader, ReaderDeleter> reader_;
  std::deque<Owed> owed_;
  std::atomic<bool> owes_ = false;
};

}  // namespace weir::client

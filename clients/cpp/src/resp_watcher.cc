// The thread of RespWire that waits for what nobody asked for: the end of a connection, and answers
// that come too late.
#include <poll.h>
#include <sys/eventfd.h>

#include "clients/cpp/src/resp_wire.h"

namespace weir::client {

void RespWire::StartToWatch(Line& line) {
  line.watched = true;
  if (!watcher_.joinable()) watcher_ = std::thread([this] { Watch(); });
  Wake();
}

void RespWire::Wake() const { eventfd_write(wake_, 1); }

void RespWire::Watch() {
  for (;;) {
    std::vector<pollfd> polled = {{wake_, POLLIN, 0}};
    std::vector<LinePtr> lines = {nullptr};
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return;
      for (const LinePtr& line : lines_) {
        if (!line->watched) continue;
        const bool owed = !line->busy && line->connection->owes();
        const int events = owed ? POLLRDHUP | POLLIN : POLLRDHUP;
        polled.push_back({line->connection->descriptor(), static_cast<short>(events), 0});
        lines.push_back(line);
      }
    }
    poll(polled.data(), polled.size(), -1);
    eventfd_t ignored = 0;
    if (polled[0].revents != 0) eventfd_read(wake_, &ignored);
    for (size_t i = 1; i < polled.size(); ++i) {
      if (polled[i].revents != 0) Look(lines[i], (polled[i].revents & ~POLLIN) != 0);
    }
  }
}

void RespWire::Look(const LinePtr& line, bool hung_up) {
  {
    const std::lock_guard lock(mutex_);
    if (line->gone) return;
    if (line->busy) {
      // Whoever uses it will notice; until then there is nothing to look for.
      line->watched = line->watched && !hung_up;
      return;
    }
    line->busy = true;
  }
  bool broken = hung_up;
  try {
    if (!hung_up) line->connection->ReadOwed(Clock::System()->Now());
  } catch (const Failure& failure) {
    broken = failure.code() != Code::kDeadlineExceeded;
  }
  PutBack(line, broken);
}

}  // namespace weir::client

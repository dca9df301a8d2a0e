#include "server/correspondent_factory.h"

#include <mutex>

#include "replication/debt_replica.h"

namespace weir {
namespace {

// A replica that one thread uses at a time.
class LockedReplica final : public Correspondent {
 public:
  LockedReplica(Origin self, Instant now) : replica_(self, {}, now) {}

  void SetPeers(std::vector<uint32_t> peers) override {
    const std::lock_guard lock(mutex_);
    replica_.SetPeers(std::move(peers));
  }
  std::vector<Envelope> Tick(Instant now) override {
    const std::lock_guard lock(mutex_);
    return replica_.Tick(now);
  }
  Instant NextTick() const override {
    const std::lock_guard lock(mutex_);
    return replica_.NextTick();
  }
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override {
    const std::lock_guard lock(mutex_);
    return replica_.Receive(bytes, now, good);
  }
  std::vector<Envelope> Everything(uint32_t to, Instant now) override {
    const std::lock_guard lock(mutex_);
    return replica_.Everything(to, now);
  }

 private:
  mutable std::mutex mutex_;
  DebtReplica replica_;  // guarded by mutex_
};

}  // namespace

std::unique_ptr<Correspondent> MakeCorrespondent(const CorrespondentSetup& setup, Instant now) {
  return std::make_unique<LockedReplica>(setup.self, now);
}

}  // namespace weir

// Every operation of the client: asked of a server (asker.h), again while it is refused (backoff.h),
// and decided here when no server can.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "clients/cpp/src/asker.h"
#include "clients/cpp/src/hold_state.h"
#include "clients/cpp/src/safe_buckets.h"
#include "clients/cpp/src/tally.h"
#include "weir/client/client.h"

namespace weir::client {

class Core : public std::enable_shared_from_this<Core> {
 public:
  explicit Core(Options options);

  Decision Request(const Target& target, const RequestOptions& options);
  Decision Peek(const Target& target, const PeekOptions& options);
  Settled Settle(const std::string& ticket, uint64_t cost, const std::string& address);

  std::shared_ptr<HoldState> Reserve(const Target& target, const ReserveOptions& options);
  std::shared_ptr<HoldState> Seize(const std::string& transfer, uint64_t copies);
  uint64_t Release(HoldState& hold, std::optional<uint64_t> copies);
  // Releases, whatever has happened: what a lost connection held is released already.
  void GiveBack(HoldState& hold, std::optional<uint64_t> copies = {}) noexcept;
  std::string Transfer(HoldState& hold, std::optional<uint64_t> copies, Duration time_to_live);
  void WasLost(const Target& target, uint64_t copies);

  void Close() { wire_->Close(); }
  bool degraded() const { return asker_.degraded(); }
  Counters counters() const { return tally_.Snapshot(); }
  Clock& clock() { return *clock_; }

 private:
  Decision Decide(const Target& target, const Command& command, uint64_t least, bool peek);
  HoldState::Facts TryReserve(const Target& target, const ReserveOptions& options, Duration line);
  // Deciding alone. Zero: granted, nothing: never.
  std::optional<Duration> AskSafeRate(const Target& target, uint64_t amount, bool peek);
  std::shared_ptr<HoldState> Make(HoldState::Facts facts);
  Value AskOf(HoldState& hold, const Command& command, uint64_t taken);

  const std::shared_ptr<Clock> clock_;
  const std::shared_ptr<Wire> wire_;
  const bool fail_open_;
  const KillSwitch& kill_switch_;
  const std::function<void(const LostHold&)> on_lost_;
  std::optional<SafeBuckets> safe_buckets_;
  Tally tally_;
  Asker asker_;
};

}  // namespace weir::client

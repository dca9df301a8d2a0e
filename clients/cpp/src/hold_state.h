// What is known of a hold, shared by the Hold and the connection that may lose it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "clients/cpp/src/commands.h"
#include "weir/client/answers.h"
#include "weir/client/wire.h"

namespace weir::client {

class Core;

class HoldState : public Holder {
 public:
  struct Facts {
    Target target;
    Reservation reservation;
    std::shared_ptr<Session> session;  // none if no server knows of the hold
    Duration waited{};
    int attempts = 1;
    Source source = Source::kServer;
  };
  HoldState(std::shared_ptr<Core> core, Facts facts);

  const Facts& facts() const { return facts_; }
  Core& core() const { return *core_; }
  uint64_t copies() const;
  bool lost() const;

  // Takes copies out, to release or transfer them; by default all. Never more than once.
  uint64_t Take(std::optional<uint64_t> copies);
  void PutBack(uint64_t copies);  // they were neither
  void Lose() override;

 private:
  const std::shared_ptr<Core> core_;
  const Facts facts_;
  mutable std::mutex mutex_;  // guards:
  uint64_t copies_;
  bool lost_ = false;
};

}  // namespace weir::client

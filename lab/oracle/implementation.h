// The algorithms of src/algorithms behind the oracle's interface.
//
// A model of one algorithm is its numbers, one State, and the receipts of the open tickets. The
// token bucket has RefundMarks beside its state, used as refund_marks.h asks for.
#pragma once

#include <unordered_map>

#include "algorithms/limit.h"
#include "algorithms/refund_marks.h"
#include "lab/oracle/model.h"

namespace weir::oracle {

template <typename Algorithm>
class ImplementationOf : public Model {
 public:
  explicit ImplementationOf(Algorithm algorithm) : algorithm_(std::move(algorithm)) {}

  std::optional<uint64_t> Room(Instant now) const override { return algorithm_.Room(state_, now); }
  void Take(uint64_t n, Instant now, uint64_t ticket) override {
    const auto receipt = algorithm_.Take(state_, n, now);
    if constexpr (requires { receipt.burst; }) burst_ = receipt.burst;
    if (ticket != 0) receipts_.emplace(ticket, receipt);
  }
  void Charge(uint64_t n, Instant now) override { algorithm_.Charge(state_, n, now); }
  uint128 Refund(uint64_t ticket, uint64_t n, Instant now) override {
    return algorithm_.Refund(state_, receipts_.at(ticket), n, now);
  }
  TierView Tier(Instant now) const override {
    if constexpr (requires { algorithm_.Current(state_, now); }) {
      const auto view = algorithm_.Current(state_, now);
      return {view.tier, view.limit, view.hits, burst_};
    }
    return {};
  }
  void Reject(uint64_t n, Instant now) override {
    if constexpr (requires { algorithm_.Reject(state_, n, now); }) {
      algorithm_.Reject(state_, n, now);
    }
  }
  void Restart(Instant now) override {
    receipts_.clear();
    if constexpr (requires { algorithm_.Renumber(state_, now); }) algorithm_.Renumber(state_, now);
  }
  void Close(uint64_t ticket) override { receipts_.erase(ticket); }
  Instant When(uint64_t n, Instant from) const override { return algorithm_.When(state_, n, from); }
  Instant Reset(Instant now) const override { return algorithm_.Reset(state_, now); }
  uint64_t Use(Instant now) const override { return algorithm_.Use(state_, now); }

 protected:
  const Algorithm algorithm_;
  typename Algorithm::State state_;

 private:
  bool burst_ = false;  // of the last Take
  std::unordered_map<uint64_t, typename Algorithm::Receipt> receipts_;
};

class TokenBucketImplementation : public Model {
 public:
  explicit TokenBucketImplementation(const TokenBucket& bucket) : bucket_(bucket) {}

  std::optional<uint64_t> Room(Instant now) const override { return bucket_.Room(state_, now); }
  void Take(uint64_t n, Instant now, uint64_t ticket) override;
  void Charge(uint64_t n, Instant now) override { bucket_.Charge(state_, n, now); }
  uint128 Refund(uint64_t ticket, uint64_t n, Instant now) override;
  Instant When(uint64_t n, Instant from) const override { return bucket_.When(state_, n, from); }
  Instant Reset(Instant now) const override { return bucket_.Reset(state_, now); }
  uint64_t Use(Instant now) const override { return bucket_.Use(state_, now); }
  void Observe(Instant now) override;
  void Close(uint64_t ticket) override;

 private:
  const TokenBucket bucket_;
  TokenBucket::State state_;
  RefundMarks marks_;
  std::unordered_map<uint64_t, uint64_t> numbers_;  // of tickets, in marks_
};

std::unique_ptr<Model> MakeImplementation(const Limit& limit);
std::unique_ptr<Model> MakeOracle(const Limit& limit);

}  // namespace weir::oracle

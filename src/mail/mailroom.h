// Gives each envelope that comes to whoever reads its kind, and sends out what all of them write: to the node
// that carries it a mailroom is one correspondent.
//
// An envelope of a kind that nobody here reads is dropped and counted: it comes from a node of a later version.
//
// Not safe for several threads, but for what it has counted.
#pragma once

#include <array>
#include <atomic>
#include <initializer_list>
#include <vector>

#include "mail/correspondent.h"

namespace weir {

class Mailroom final : public Correspondent {
 public:
  // Envelopes of these kinds are for him, who outlives this; before the first comes.
  void Give(std::initializer_list<EnvelopeKind> kinds, Correspondent& correspondent);

  void SetPeers(std::vector<uint32_t> peers) override;
  std::vector<Envelope> Tick(Instant now) override;
  Instant NextTick() const override;
  std::vector<Envelope> Receive(std::string_view bytes, Instant now, bool& good) override;
  std::vector<Envelope> Farewell(Instant now) override;
  Slice Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) override;

  // Envelopes that nobody here reads; from any thread.
  uint64_t unknown() const { return unknown_.load(std::memory_order_relaxed); }

 private:
  std::vector<Correspondent*> boxes_;
  std::array<Correspondent*, 256> by_kind_{};
  std::atomic<uint64_t> unknown_{0};
};

}  // namespace weir

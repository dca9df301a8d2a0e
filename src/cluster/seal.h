// Datagrams between nodes, sealed: nobody without the cluster's key can read, forge, redirect or
// repeat one.
//
//   4 bytes   kind (4 bits), number of the sending node (28 bits)
//   4 bytes   its incarnation
//   6 bytes   sequence
//   …         what is told, encrypted
//   16 bytes  tag
//
// So sealing costs 30 bytes. Each life of a node seals with a key of its own, and never seals two
// datagrams with one sequence. Sequences begin at a number drawn by chance below 2^47: two nodes that
// were given one name by mistake, or one whose clock was set back, do not use a nonce twice either.
//
// The tag also covers for whose life a datagram is, which is not sent: whoever else gets it cannot
// open it, and nor can the receiver's next life. Only a greeting is for anybody, since the greeter does
// not know the other's life yet; so a greeting may come from the past, and proves nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/aead.h"
#include "cluster/key_ring.h"
#include "cluster/replay_window.h"
#include "mail/envelope.h"

namespace weir::cluster {

inline constexpr size_t kSealedHeadBytes = 14;
inline constexpr size_t kSealBytes = kSealedHeadBytes + kTagBytes;
inline constexpr size_t kMostPlainBytes = kMostDatagramBytes - kSealBytes;
inline constexpr uint64_t kSequences = uint64_t{1} << 48;
inline constexpr uint32_t kNodeNumbers = uint32_t{1} << 28;

struct SealedHead {
  bool for_anybody = false;
  Origin sender;
  uint64_t sequence = 0;
};
// Nothing is proven by it.
std::optional<SealedHead> ReadSealedHead(std::string_view datagram);

// What one life sends.
class Sealer {
 public:
  // `first`: the first sequence, 1 or more; drawn by chance below 2^47.
  Sealer(const ClusterKey& key, Origin self, uint64_t first);

  std::string SealFor(Origin receiver, std::string_view plain);
  std::string SealForAnybody(std::string_view plain);
  // From now on with this one; sequences go on.
  void SetKey(const ClusterKey& key);
  // Of what was sealed last.
  uint64_t sequence() const { return next_ - 1; }

 private:
  std::string Seal(bool for_anybody, Origin receiver, std::string_view plain);

  const Origin self_;
  Aead aead_;
  uint64_t next_;
};

// Opens what one life has sealed, with any key of the ring.
class Opener {
 public:
  Opener(const KeyRing& keys, Origin sender);

  enum class Outcome { kOpened, kUnreadable, kRepeated, kTooOld, kTooNew };
  // `receiver`: this node's life. A datagram is opened once.
  Outcome Open(const SealedHead& head, std::string_view datagram, Origin receiver,
               std::string& plain);

  // Its two parts: whether it is authentic, and whether it is new.
  bool Read(const SealedHead& head, std::string_view datagram, Origin receiver, std::string& plain);
  Outcome Take(uint64_t sequence);
  // The sender has been asked where it is.
  void BeginAt(uint64_t sequence) { window_.BeginAt(sequence); }

  // Other keys from now on; what has come has come.
  void SetKeys(const KeyRing& keys);
  // The key of the ring that opened what was read last.
  size_t key() const { return key_; }

 private:
  const Origin sender_;
  std::vector<Aead> aeads_;
  size_t key_ = 0;
  ReplayWindow window_;
};

}  // namespace weir::cluster

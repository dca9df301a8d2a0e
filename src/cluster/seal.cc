#include "cluster/seal.h"

#include <cstdio>
#include <cstdlib>

namespace weir::cluster {
namespace {

constexpr uint32_t kAddressed = 1, kGreeting = 2;

void PutBytes(uint64_t value, int bytes, std::string& out) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t GetBytes(std::string_view from, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= uint64_t{static_cast<uint8_t>(from[static_cast<size_t>(i)])} << (8 * i);
  }
  return value;
}

std::string Bytes(Origin life) {
  std::string bytes;
  PutBytes(life.node, 4, bytes);
  PutBytes(life.incarnation, 4, bytes);
  return bytes;
}

AeadBytes KeyOf(const ClusterKey& key, Origin life) { return key.Derive("datagrams", Bytes(life)); }

// What the tag covers: the head, and for whom it is.
std::string Covered(std::string_view head, bool for_anybody, Origin receiver) {
  return std::string(head) + Bytes(for_anybody ? Origin{} : receiver);
}

}  // namespace

std::optional<SealedHead> ReadSealedHead(std::string_view datagram) {
  if (datagram.size() <= kSealBytes || datagram.size() > kMostDatagramBytes) return std::nullopt;
  const auto first = static_cast<uint32_t>(GetBytes(datagram, 4));
  const uint32_t kind = first / kNodeNumbers;
  if (kind != kAddressed && kind != kGreeting) return std::nullopt;
  SealedHead head;
  head.for_anybody = kind == kGreeting;
  head.sender.node = first % kNodeNumbers;
  head.sender.incarnation = static_cast<uint32_t>(GetBytes(datagram.substr(4), 4));
  head.sequence = GetBytes(datagram.substr(8), 6);
  return head;
}

Sealer::Sealer(const ClusterKey& key, Origin self, uint64_t first)
    : self_(self), aead_(KeyOf(key, self), Aead::Use::kSeal), next_(first) {}

std::string Sealer::SealFor(Origin receiver, std::string_view plain) {
  return Seal(false, receiver, plain);
}

std::string Sealer::SealForAnybody(std::string_view plain) { return Seal(true, {}, plain); }

std::string Sealer::Seal(bool for_anybody, Origin receiver, std::string_view plain) {
  if (next_ >= kSequences) {  // after years; a new life begins anew
    std::fputs("weir: this node has used up its sequence numbers\n", stderr);
    std::abort();
  }
  const uint64_t sequence = next_++;
  std::string datagram;
  datagram.reserve(kSealBytes + plain.size());
  PutBytes((for_anybody ? kGreeting : kAddressed) * kNodeNumbers + self_.node, 4, datagram);
  PutBytes(self_.incarnation, 4, datagram);
  PutBytes(sequence, 6, datagram);
  const std::string covered = Covered(datagram, for_anybody, receiver);
  aead_.Seal(sequence, covered, plain, datagram);
  return datagram;
}

void Sealer::SetKey(const ClusterKey& key) { aead_ = Aead(KeyOf(key, self_), Aead::Use::kSeal); }

Opener::Opener(const KeyRing& keys, Origin sender) : sender_(sender) { SetKeys(keys); }

void Opener::SetKeys(const KeyRing& keys) {
  aeads_.clear();
  for (const ClusterKey& key : keys.keys()) {
    aeads_.emplace_back(KeyOf(key, sender_), Aead::Use::kOpen);
  }
  key_ = 0;
}

bool Opener::Read(const SealedHead& head, std::string_view datagram, Origin receiver,
                  std::string& plain) {
  const std::string covered =
      Covered(datagram.substr(0, kSealedHeadBytes), head.for_anybody, receiver);
  const std::string_view sealed = datagram.substr(kSealedHeadBytes);
  for (size_t i = 0; i < aeads_.size(); ++i) {  // the one that it was the last time is tried first
    const size_t key = (key_ + i) % aeads_.size();
    if (!aeads_[key].Open(head.sequence, covered, sealed, plain)) continue;
    key_ = key;
    return true;
  }
  return false;
}

Opener::Outcome Opener::Take(uint64_t sequence) {
  switch (window_.Look(sequence)) {
    case ReplayWindow::Seen::kNew: break;
    case ReplayWindow::Seen::kRepeated: return Outcome::kRepeated;
    case ReplayWindow::Seen::kTooOld: return Outcome::kTooOld;
    case ReplayWindow::Seen::kTooNew: return Outcome::kTooNew;
  }
  window_.Note(sequence);
  return Outcome::kOpened;
}

Opener::Outcome Opener::Open(const SealedHead& head, std::string_view datagram, Origin receiver,
                             std::string& plain) {
  return Read(head, datagram, receiver, plain) ? Take(head.sequence) : Outcome::kUnreadable;
}

}  // namespace weir::cluster

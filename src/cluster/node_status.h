// What is known about a cluster from one of its nodes: for people and for metrics.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/peer.h"
#include "cluster/problem.h"
#include "cluster/questions.h"

namespace weir::cluster {

// Why a datagram changed nothing.
enum class Rejection : uint8_t {
  kMalformed,   // not a datagram of Weir
  kUnreadable,  // another key, changed on its way, or for another life of this node
  kRepeated,
  kTooOld,
  kTooNew,       // its sequence is further ahead than can be
  kOldLife,      // of a life that is not the one that is accepted under its name
  kStranger,     // has the key, but is not on the list
  kImpostor,     // calls itself what it is not
  kBadEnvelope,  // the limiters cannot read it
  kVersion,      // of another version of Weir
  kCount,
};
std::string_view RejectionName(Rejection rejection);
using Rejections = std::array<uint64_t, static_cast<size_t>(Rejection::kCount)>;

struct CopyCounts {
  uint64_t asked = 0;     // somebody, for all that it knows
  uint64_t received = 0;  // in full
  uint64_t failed = 0;
  uint64_t given = 0;  // to others
  uint64_t bytes_in = 0, bytes_out = 0;
};

struct PeerStatus {
  std::string id, address;
  uint32_t number = 0;
  uint32_t incarnation = 0;  // 0: never heard
  bool alive = false;
  Duration last_heard = kUnknown;  // ago
  // What it has told is no older than this, unless it was lost.
  Duration staleness = kUnknown;
  Duration round_trip = kUnknown;
  Traffic traffic;
};

struct NodeStatus {
  std::string id;
  uint32_t number = 0;
  uint32_t incarnation = 0;
  bool ready = false;
  std::vector<PeerStatus> peers;  // by id
  std::vector<Problem> problems;
  Rejections rejected{};
  CopyCounts copies;
  QuestionCounts questions;
  uint64_t too_large = 0;       // envelopes that fit no datagram
  uint64_t names_refused = 0;   // to others, for somebody lives under them
  uint64_t names_disputed = 0;  // this node's own
};

}  // namespace weir::cluster

// A node that this one knows of, and what has passed between them.
#pragma once

#include <memory>
#include <string>

#include "cluster/seal.h"
#include "weir/instant.h"

namespace weir::cluster {

struct Traffic {
  uint64_t datagrams_in = 0, bytes_in = 0;  // that were accepted
  uint64_t datagrams_out = 0, bytes_out = 0;
  uint64_t rejected = 0;  // that named this peer as their sender
};

inline constexpr Duration kUnknown = Duration(-1);

struct Peer {
  std::string id;
  uint32_t number = 0;
  std::string address;
  bool listed = false;  // else it is known because it has the key

  // Of its life that was last heard; 0: none was.
  uint32_t incarnation = 0;
  bool alive = false;
  Instant last_heard{};
  Duration round_trip = kUnknown;

  // When it is called next: greeted, or pinged if it is alive.
  Instant next_call{};
  Duration patience{};  // until the next greeting
  int missed = 0;       // pings

  std::unique_ptr<Opener> opener;  // of that life
  Traffic traffic;

  Origin life() const { return {number, incarnation}; }
};

}  // namespace weir::cluster

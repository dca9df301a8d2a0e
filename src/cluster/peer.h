// A node that this one knows of, and what has passed between them.
#pragma once

#include <memory>
#include <string>

#include "cluster/claim.h"
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
  std::string address;    // where it is reached
  bool listed = false;    // else it is known because it has the key
  std::string listed_at;  // where the list has it: there it is reached, unless its life that was
                          // accepted answers elsewhere only

  // Of its life that was last accepted; 0: none was.
  uint32_t incarnation = 0;
  uint64_t birthmark = 0;
  std::string told_at;           // where members have met it, if nobody of that name was heard yet
  std::string heard_from;        // the address that its datagrams come from
  std::unique_ptr<Claim> claim;  // another that wants its name
  // Of the last greetings that went to where the list has it, and to where it was heard.
  uint64_t listed_stamp = 0, heard_stamp = 0;
  std::string greeted_at;       // the latter
  bool listed_answers = false;  // to the former
  Instant next_search{};        // where it is reached; not before
  bool accepts_me = false;      // it takes this life for the node of its name
  bool alive = false;
  bool left = false;  // it has said that it ends
  Instant last_heard{};
  Duration round_trip = kUnknown;

  // When it is called next: greeted, or pinged if it is alive.
  Instant next_call{};
  Duration patience{};  // until the next greeting
  int missed = 0;       // pings

  std::unique_ptr<Opener> opener;  // of that life
  uint64_t latest_pong = 0;        // the greatest stamp that it has given back
  Instant next_question{};         // where it is, if its sequences are out of order; not before
  Traffic traffic;

  // What is wrong with it, and since when; kEndOfTime: it is not.
  struct Trouble {
    Instant since = kEndOfTime;
    Instant seen{};    // the last time
    Instant warned{};  // an operator
    bool now(Instant at, Duration lasts) const {
      return since != kEndOfTime && After(seen, lasts) > at;
    }
  };
  Trouble key, version, names, namesake;
  std::string namesake_at;
  uint32_t names_told = 0;  // ClusterKey::MarkOfNames, as it says
  Instant quiet_since{};    // it is dead, or was never heard

  Origin life() const { return {number, incarnation}; }
};

}  // namespace weir::cluster

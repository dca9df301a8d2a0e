// Somebody who wants the name of a node that is known already: it has started again, or it was given
// another's name by mistake. Or nobody of that name was heard yet, and it speaks from elsewhere than the list has
// that node: then the known one is whoever answers there.
//
// Whoever is asked for a name greets both: the life that it knows, where that was last heard, and the
// one that wants the name. It is refused if the known one answers. It has the name if it has answered itself,
// so that nothing from the past wins a name, and
//
//   - the known one has said that it ends, or
//   - it speaks from the very address of the known one, which cannot be there any more: so it also comes before
//     others that want the name, or
//   - the known one has kept silent for two seconds; if it is dead here, for one more: it may have been cut off.
//
// One that was refused and is still there is looked at again after a while.
#pragma once

#include <memory>
#include <string>

#include "cluster/seal.h"
#include "weir/instant.h"

namespace weir::cluster {

inline constexpr Duration kClaimPatience = std::chrono::seconds(2);
inline constexpr Duration kChallengeEvery = std::chrono::milliseconds(300);
inline constexpr Duration kDeadPatience = 3 * kChallengeEvery;  // leaves it time to copy
inline constexpr Duration kRefusedFor = std::chrono::seconds(3);

struct Claim {
  uint32_t incarnation = 0;
  uint64_t birthmark = 0;
  std::string from;  // its address
  Instant since{};   // when the question was put
  Instant next_challenge{};
  Instant heard{};         // the last that came from it
  bool fresh = false;      // it has answered,
  bool at_listed = false;  // where the list has the node of that name
  bool refused = false;
  std::unique_ptr<Opener> opener;

  Instant ends() const { return After(since, refused ? kRefusedFor : kClaimPatience); }
};

}  // namespace weir::cluster

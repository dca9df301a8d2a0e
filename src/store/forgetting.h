// Who loses what when memory is full.
//
// Every state has an owner: the namespace of its limit, or those who carry limits with their requests
// (number 0), who are one owner together. Whoever holds the most loses first, until it holds no more
// than the next; so an owner that holds less than its share of the memory loses nothing for others.
//
//     held:     aaaaaaaaaaaa   bbbb   cc          to be freed: 5
//     level:           ^                          a loses 5; b and c nothing
//
// Within an owner the states with the least use go first (use as a share of the capacity). States that
// are guarded (`persist`, `on_failure: deny`) go after its others, and are never forgotten for another
// owner's newcomer. A newcomer that would rather be turned away (`deny`) takes only from owners that
// hold more than its own.
//
//   Forgetting plan(newcomer);
//   plan.Meet(worth) for every state;  plan.Free(bytes);
//   plan.Takes(worth) for every state again: whether it goes
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weir {

// What a state is worth to its owner, and what forgetting it would free.
struct Worth {
  enum class Guard : uint8_t { kNone, kFromOthers, kAlways };
  uint32_t owner = 0;
  uint32_t fill = 0;
  uint32_t bytes = 0;
  uint32_t lot = 0;  // decides between states of equal use, so that those that go lie scattered
  Guard guard = Guard::kNone;
};

// For whom room is wanted.
struct Newcomer {
  uint32_t owner = 0;
  bool guarded = false;   // it will be guarded itself
  bool deny = false;      // it is turned away rather than that its owner forgets something
  bool own_only = false;  // its owner has more than its part already: nobody else gives way
};

class Forgetting {
 public:
  explicit Forgetting(Newcomer newcomer) : newcomer_(newcomer) {}

  void Meet(const Worth& worth);
  // What an owner holds elsewhere: it counts, and cannot be freed here.
  void MeetOutside(uint32_t owner, uint64_t bytes) { Of(owner).held += bytes; }
  uint64_t held() const { return held_; }

  // Decides whose states go, to free at least so many bytes if that is possible.
  void Free(uint64_t bytes);
  bool Takes(const Worth& worth);

 private:
  struct Owner {
    uint64_t held = 0;      // all bytes,
    uint64_t forgets = 0;   // and those that may be forgotten
    uint64_t quota = 0;     // of which so many go:
    uint64_t below = 0;     // whatever ranks below this,
    int64_t at_border = 0;  // and so many bytes of what ranks just so
  };
  struct Ranked {
    uint64_t rank;
    uint32_t owner, bytes;
  };

  static uint64_t RankOf(const Worth& worth) {
    return uint64_t{worth.guard != Worth::Guard::kNone} << 63 | uint64_t{worth.fill} << 32 |
           worth.lot;
  }
  bool MayGo(const Worth& worth) const;
  static uint64_t Excess(const Owner& owner, uint64_t level);
  uint64_t FreedAt(uint64_t level) const;
  static void FindBorder(Owner& owner, std::span<Ranked> states);
  Owner& Of(uint32_t owner) {
    if (owners_.size() <= owner) owners_.resize(owner + 1);
    return owners_[owner];
  }

  const Newcomer newcomer_;
  uint64_t held_ = 0;
  std::vector<Owner> owners_;   // by number
  std::vector<Ranked> states_;  // that may go
};

}  // namespace weir

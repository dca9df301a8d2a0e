// The token-bucket queue (thesis 000, section 4.2.1): what was admitted and is not refilled yet.
//
// An element is a request that was admitted: its name (the node's life and a sequence number, so
// that two requests are never taken for one: erratum 4), its birth, its weight in tokens, and the
// life that was given to it by equation (4.2): it dies when the last of its tokens is back.
// Elements stand in order of birth. Their deaths are not kept but follow from the order, which is
// Listing 4.3 for every element at once:
//
//   death = max(death of the one before, birth) + weight / rate
//
// The life that was given says only how long an element is worth telling: births arrive late by the
// time of travel, and lives that were added to them would push each other on for ever.
//
// An element counts for as much of it as is not back: min(weight, (death - now) * rate). On one node
// that is a token bucket, exactly. Dead elements (Listing 4.1, erratum 2) stay
// for a margin, in which they count for nothing but still push those behind them (section 5.4,
// erratum 5). An element that comes back after that is known by its age and not taken in again; or,
// since ages lag, by its sequence: what its origin admitted after it has been removed already. It would
// push those behind it twice.
//
// A bucket that nothing flows into (limit 0) is a sliding log instead (section 4.1.1): an element
// counts whole until it is `per` old, whatever stands before it.
//
// Merging is the union of two sets of names (Listing 4.2), so its order does not matter. Of one
// element the earliest birth is kept, for ages lag by the time of travel, and the greater refund.
// Unlike the thesis, a death that moved is not told: every node derives it from the same elements.
// (If it were, two nodes that order two births differently, because ages lag, would raise the
// deaths in turns for ever.)
#pragma once

#include <vector>

#include "replication/ticks.h"

namespace weir {

struct ElementName {
  Origin origin;
  uint32_t sequence = 0;
  auto operator<=>(const ElementName&) const = default;
};

struct Element {
  int128 life = 0;  // ticks
  Instant birth;
  ElementName name;
  uint32_t weight = 0;
  uint32_t refunded = 0;
};

class TokenQueue {
 public:
  explicit TokenQueue(const ReplicatedBucket& shape) : shape_(shape) {}

  bool is_log() const { return shape_.limit == 0; }

  const ReplicatedBucket& shape() const { return shape_; }
  const std::vector<Element>& elements() const { return elements_; }  // in order of birth
  const Element* Find(const ElementName& name) const;
  void Reshape(const ReplicatedBucket& wanted);

  // What is not back yet, in ticks; more than the capacity if nodes admitted too much.
  int128 Alive(Instant now) const;
  void Add(const ElementName& name, uint32_t weight, Instant now);
  // Takes back up to `cost` of what counts of the origin's elements, the youngest first; returns
  // which changed.
  std::vector<ElementName> Refund(Origin origin, uint64_t cost, Instant now);

  enum class Merged { kTooOld, kNew, kRaised, kSame, kBehind };
  Merged Merge(const Element& theirs, Instant now, Duration margin);
  // Removes what has been dead for `margin`; returns which.
  std::vector<ElementName> Expire(Instant now, Duration margin);

  size_t bytes() const {
    return elements_.capacity() * sizeof(Element) + by_name_.capacity() * sizeof(uint32_t) +
           removed_.capacity() * sizeof(ElementName);
  }

 private:
  static constexpr int128 kLongAgo = -(int128{1} << 125);

  // Of a log, time is nanoseconds and tokens take none.
  Ticks Time() const;
  int128 Counting(const Ticks& ticks, const Element& element, int128 death, Instant now) const;
  int128 DeathAfter(const Ticks& ticks, int128 before, const Element& element) const;
  std::vector<uint32_t>::const_iterator PlaceOf(const ElementName& name) const;
  void Insert(const Element& element);
  void Remove(uint32_t from, uint32_t count);
  bool WasRemoved(const ElementName& name) const;
  void NoteRemoved(const ElementName& name);

  ReplicatedBucket shape_;
  int128 gone_ = kLongAgo;            // the death of the last that was removed
  std::vector<ElementName> removed_;  // of each origin, the last
  std::vector<Element> elements_;
  std::vector<uint32_t> by_name_;  // where they stand in elements_
};

}  // namespace weir

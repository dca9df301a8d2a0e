#include "replication/token_queue.h"

#include <algorithm>

namespace weir {
namespace {

bool Precedes(const Element& a, const Element& b) {
  return a.birth != b.birth ? a.birth < b.birth : a.name < b.name;
}

uint64_t Counting(const Ticks& ticks, const Element& element, int128 death, Instant now) {
  const uint64_t left = ticks.Tokens(death - ticks.At(now) + ticks.per_token - 1);
  return std::min<uint64_t>(element.weight - element.refunded, left);
}

}  // namespace

int128 TokenQueue::DeathAfter(const Ticks& ticks, int128 before, const Element& element) const {
  const int128 alone = ticks.At(element.birth) + element.life - ticks.Of(element.refunded);
  return std::max(before + ticks.Of(element.weight - element.refunded), alone);
}

const Element* TokenQueue::Find(const ElementName& name) const {
  // From the back: it is the youngest that are told.
  const auto it = std::find_if(elements_.rbegin(), elements_.rend(),
                               [&](const Element& element) { return element.name == name; });
  return it == elements_.rend() ? nullptr : &*it;
}

void TokenQueue::Reshape(const SharedBucket& wanted) {
  if (shape_ == wanted) return;
  for (Element& element : elements_) {
    element.life = Rescaled(element.life, Ticks(shape_), Ticks(wanted));
  }
  gone_ = kLongAgo;
  shape_ = wanted;
}

uint64_t TokenQueue::Alive(Instant now) const {
  const Ticks ticks(shape_);
  uint64_t sum = 0;
  int128 death = gone_;
  for (const Element& element : elements_) {
    death = DeathAfter(ticks, death, element);
    sum += Counting(ticks, element, death, now);
  }
  return sum;
}

void TokenQueue::Add(const ElementName& name, uint32_t weight, Instant now) {
  const Ticks ticks(shape_);
  int128 last = ticks.At(now);
  int128 death = gone_;
  for (const Element& element : elements_) {
    death = DeathAfter(ticks, death, element);
    last = std::max(last, death);
  }
  Insert({last + ticks.Of(weight) - ticks.At(now), now, name, weight, 0});
}

std::vector<ElementName> TokenQueue::Refund(Origin origin, uint64_t cost, Instant now) {
  const Ticks ticks(shape_);
  std::vector<uint64_t> counting;
  int128 death = gone_;
  for (const Element& element : elements_) {
    death = DeathAfter(ticks, death, element);
    counting.push_back(Counting(ticks, element, death, now));
  }
  std::vector<ElementName> changed;
  for (size_t i = elements_.size(); i-- > 0 && cost > 0;) {
    const auto part = static_cast<uint32_t>(std::min(cost, counting[i]));
    if (elements_[i].name.origin != origin || part == 0) continue;
    elements_[i].refunded += part;
    cost -= part;
    changed.push_back(elements_[i].name);
  }
  return changed;
}

TokenQueue::Merged TokenQueue::Merge(const Element& theirs, Instant now, Duration margin) {
  const auto it = std::find_if(elements_.begin(), elements_.end(),
                               [&](const Element& ours) { return ours.name == theirs.name; });
  if (it == elements_.end()) {
    const Ticks ticks(shape_);
    if (ticks.At(theirs.birth) + theirs.life + ticks.In(margin) <= ticks.At(now)) {
      return Merged::kTooOld;
    }
    Insert(theirs);
    return Merged::kNew;
  }
  const uint32_t refunded = it->refunded;
  it->refunded = std::max(refunded, std::min(theirs.refunded, it->weight));
  if (theirs.birth < it->birth) {
    Element earlier = *it;
    earlier.birth = theirs.birth;
    elements_.erase(it);
    Insert(earlier);
  }
  if (theirs.refunded == refunded) return Merged::kSame;
  return theirs.refunded > refunded ? Merged::kRaised : Merged::kBehind;
}

std::vector<ElementName> TokenQueue::Expire(Instant now, Duration margin) {
  const Ticks ticks(shape_);
  const int128 end = ticks.At(now) - ticks.In(margin);
  std::vector<ElementName> removed;
  auto it = elements_.begin();
  for (; it != elements_.end(); ++it) {
    const int128 death = DeathAfter(ticks, gone_, *it);
    // What was refunded stays as long as without, or a late copy would bring it back.
    if (std::max(death, ticks.At(it->birth) + it->life) > end) break;
    gone_ = death;
    removed.push_back(it->name);
  }
  elements_.erase(elements_.begin(), it);
  return removed;
}

void TokenQueue::Insert(const Element& element) {
  elements_.insert(std::upper_bound(elements_.begin(), elements_.end(), element, Precedes),
                   element);
}

}  // namespace weir

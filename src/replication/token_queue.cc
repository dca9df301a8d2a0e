#include "replication/token_queue.h"

#include <algorithm>

namespace weir {
namespace {

bool Precedes(const Element& a, const Element& b) {
  return a.birth != b.birth ? a.birth < b.birth : a.name < b.name;
}

}  // namespace

Ticks TokenQueue::Time() const {
  Ticks ticks(shape_);
  if (is_log()) ticks.per_nano = 1, ticks.per_token = 0;
  return ticks;
}

int128 TokenQueue::Counting(const Ticks& ticks, const Element& element, int128 death,
                            Instant now) const {
  const uint32_t weight = element.weight - element.refunded;
  const int128 left = std::max<int128>(0, death - ticks.At(now));
  if (is_log()) return left > 0 ? weight : 0;
  return std::min(ticks.Of(weight), left);
}

int128 TokenQueue::DeathAfter(const Ticks& ticks, int128 before, const Element& element) const {
  if (is_log()) return ticks.At(element.birth) + element.life;
  return std::max(before, ticks.At(element.birth)) + ticks.Of(element.weight - element.refunded);
}

std::vector<uint32_t>::const_iterator TokenQueue::PlaceOf(const ElementName& name) const {
  return std::lower_bound(
      by_name_.begin(), by_name_.end(), name,
      [&](uint32_t i, const ElementName& wanted) { return elements_[i].name < wanted; });
}

const Element* TokenQueue::Find(const ElementName& name) const {
  const auto at = PlaceOf(name);
  return at != by_name_.end() && elements_[*at].name == name ? &elements_[*at] : nullptr;
}

void TokenQueue::Reshape(const ReplicatedBucket& wanted) {
  if (shape_ == wanted) return;
  for (Element& element : elements_) {
    element.life = Rescaled(element.life, Ticks(shape_), Ticks(wanted));
  }
  gone_ = kLongAgo;
  shape_ = wanted;
}

int128 TokenQueue::Alive(Instant now) const {
  const Ticks ticks = Time();
  int128 sum = 0;
  int128 death = gone_;
  for (const Element& element : elements_) {
    death = DeathAfter(ticks, death, element);
    sum += Counting(ticks, element, death, now);
  }
  return sum;
}

void TokenQueue::Add(const ElementName& name, uint32_t weight, Instant now) {
  const Ticks ticks = Time();
  int128 last = ticks.At(now);
  int128 death = gone_;
  for (const Element& element : elements_) {
    death = DeathAfter(ticks, death, element);
    last = std::max(last, death);
  }
  const int128 life = is_log() ? shape_.per.count() + 1 : last + ticks.Of(weight) - ticks.At(now);
  Insert({life, now, name, weight, 0});
}

std::vector<ElementName> TokenQueue::Refund(Origin origin, uint64_t cost, Instant now) {
  const Ticks ticks = Time();
  std::vector<uint64_t> counting;
  int128 death = gone_;
  for (const Element& element : elements_) {
    death = DeathAfter(ticks, death, element);
    const int128 counts = Counting(ticks, element, death, now);
    counting.push_back(is_log() ? static_cast<uint64_t>(counts)
                                : ticks.Tokens(counts + ticks.per_token - 1));
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
  const auto at = PlaceOf(theirs.name);
  if (at == by_name_.end() || elements_[*at].name != theirs.name) {
    const Ticks ticks = Time();
    const int128 kept_until = ticks.At(theirs.birth) + theirs.life + ticks.In(margin);
    if (kept_until <= ticks.At(now) || WasRemoved(theirs.name)) return Merged::kTooOld;
    Insert(theirs);
    return Merged::kNew;
  }
  Element& ours = elements_[*at];
  const uint32_t refunded = ours.refunded;
  ours.refunded = std::max(refunded, std::min(theirs.refunded, ours.weight));
  if (theirs.birth < ours.birth) {
    Element earlier = ours;
    earlier.birth = theirs.birth;
    if (*at == 0 || Precedes(elements_[*at - 1], earlier)) {
      ours.birth = theirs.birth;
    } else {
      Remove(*at, 1);
      Insert(earlier);
    }
  }
  if (theirs.refunded == refunded) return Merged::kSame;
  return theirs.refunded > refunded ? Merged::kRaised : Merged::kBehind;
}

std::vector<ElementName> TokenQueue::Expire(Instant now, Duration margin) {
  const Ticks ticks = Time();
  const int128 end = ticks.At(now) - ticks.In(margin);
  std::vector<ElementName> removed;
  for (const Element& element : elements_) {
    const int128 death = DeathAfter(ticks, gone_, element);
    // What was refunded stays as long as without, or a late copy would bring it back.
    if (std::max(death, ticks.At(element.birth) + element.life) > end) break;
    gone_ = death;
    NoteRemoved(element.name);
    removed.push_back(element.name);
  }
  Remove(0, static_cast<uint32_t>(removed.size()));
  return removed;
}

void TokenQueue::Insert(const Element& element) {
  const auto at = std::upper_bound(elements_.begin(), elements_.end(), element, Precedes);
  const auto place = static_cast<uint32_t>(at - elements_.begin());
  elements_.insert(at, element);
  for (uint32_t& i : by_name_) i += i >= place;
  by_name_.insert(PlaceOf(element.name), place);
}

void TokenQueue::Remove(uint32_t from, uint32_t count) {
  if (count == 0) return;
  elements_.erase(elements_.begin() + from, elements_.begin() + from + count);
  std::erase_if(by_name_, [&](uint32_t i) { return i >= from && i - from < count; });
  for (uint32_t& i : by_name_) i -= i > from ? count : 0;
}

bool TokenQueue::WasRemoved(const ElementName& name) const {
  return std::any_of(removed_.begin(), removed_.end(), [&](const ElementName& last) {
    return last.origin == name.origin && last.sequence >= name.sequence;
  });
}

void TokenQueue::NoteRemoved(const ElementName& name) {
  const auto of_origin =
      std::find_if(removed_.begin(), removed_.end(),
                   [&](const ElementName& last) { return last.origin == name.origin; });
  if (of_origin == removed_.end()) {
    removed_.push_back(name);
  } else {
    of_origin->sequence = std::max(of_origin->sequence, name.sequence);
  }
}

}  // namespace weir

// What is under way between this node and one peer: envelopes that await an acknowledgement, and
// acknowledgements that await an envelope.
//
// An envelope that tells something has a number, from 1 up, of its own for each peer; number 0
// tells nothing. Whoever receives it acknowledges its number in the next envelope that goes back.
// If none goes for `patience`, the acknowledgements go alone. What is not acknowledged after twice
// as long and a bit counts as lost, and what it told is owed again. So without loss nothing is sent
// twice, and an acknowledgement is a byte or two in an envelope that is sent anyway, most of the
// time. All that came is acknowledged at once, in as many envelopes as it takes: what has come is never
// sent again because its acknowledgement had to wait. Acknowledgements name the life of the node that they are for: one that came back starts at
// 1 again.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "mail/envelope.h"
#include "weir/instant.h"

namespace weir {

struct Acknowledgements {
  uint32_t incarnation = 0;
  std::vector<uint32_t> numbers;  // ascending
};

class Delivery {
 public:
  // Numbers go on after the last that was used: a peer that left and is there again may still hear
  // an envelope of then, and its acknowledgement must not stand for another.
  explicit Delivery(uint32_t last_number = 0) : last_number_(last_number) {}
  uint32_t last_number() const { return last_number_; }
  struct Sent {
    uint32_t number = 0;
    bool over = false;  // it is awaited no more
    Instant at;
    std::vector<Key> keys;  // of which it tells
  };

  uint32_t Send(Instant now) {
    under_way_.push_back({.number = ++last_number_, .at = now, .keys = {}});
    return last_number_;
  }
  // The envelope that was sent last tells of this key.
  void Carries(const Key& key) {
    std::vector<Key>& keys = under_way_.back().keys;
    if (keys.empty() || keys.back() != key) keys.push_back(key);
  }
  // The envelope, if it was still awaited.
  std::optional<Sent> Acknowledged(uint32_t number) {
    const auto it =
        std::lower_bound(under_way_.begin() + static_cast<ptrdiff_t>(first_), under_way_.end(),
                         number, [](const Sent& s, uint32_t n) { return s.number < n; });
    if (it == under_way_.end() || it->number != number || it->over) return std::nullopt;
    Sent sent = std::move(*it);
    it->over = true;
    DropWhatIsOver();
    return sent;
  }
  // The next that is given up now, if there is one.
  std::optional<Sent> Lost(Instant now, Duration patience) {
    if (first_ == under_way_.size()) return std::nullopt;
    Sent& first = under_way_[first_];
    if (first.at + 2 * patience + patience / 2 >= now) return std::nullopt;
    Sent sent = std::move(first);
    first.over = true;
    DropWhatIsOver();
    return sent;
  }
  // All that is still awaited; nothing is any more.
  std::vector<Sent> TakeSent() {
    first_ = 0;
    return std::exchange(under_way_, {});
  }

  void Heard(Origin sender, uint32_t number, Instant now) {
    if (heard_.numbers.empty()) heard_since_ = now;
    heard_.incarnation = sender.incarnation;
    const auto at = std::lower_bound(heard_.numbers.begin() + static_cast<ptrdiff_t>(written_),
                                     heard_.numbers.end(), number);
    if (at == heard_.numbers.end() || *at != number) heard_.numbers.insert(at, number);
  }
  void ForgetHeard() {
    heard_.numbers.clear();
    written_ = 0;
  }
  bool MustAcknowledge() const { return !heard_.numbers.empty(); }
  bool MustAcknowledge(Instant now, Duration patience) const {
    return MustAcknowledge() && heard_since_ + patience <= now;
  }
  // As many as one envelope takes.
  void WriteAcknowledgements(EnvelopeWriter& to) {
    const size_t count = std::min(heard_.numbers.size() - written_, kMostAtOnce);
    to.Number(count);
    if (count == 0) return;
    to.Number(heard_.incarnation);
    uint32_t before = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint32_t number = heard_.numbers[written_++];
      to.Number(number - before);
      before = number;
    }
    if (written_ == heard_.numbers.size()) ForgetHeard();
  }
  static Acknowledgements ReadAcknowledgements(EnvelopeReader& from) {
    Acknowledgements read;
    const uint64_t count = from.NumberBelow(kMostAtOnce + 1);
    if (count > 0) read.incarnation = from.Number32();
    uint32_t number = 0;
    for (uint64_t i = 0; i < count && from.ok(); ++i) {
      number += from.Number32();
      read.numbers.push_back(number);
    }
    return read;
  }

  size_t bytes() const {
    size_t sum = under_way_.capacity() * sizeof(Sent);
    for (const Sent& sent : under_way_) sum += sent.keys.capacity() * sizeof(Key);
    return sum + heard_.numbers.capacity() * sizeof(uint32_t);
  }

 private:
  static constexpr size_t kMostAtOnce = 64;

  // Nothing is taken out at once: that would be to move what lies behind it, each time.
  void DropWhatIsOver() {
    while (first_ < under_way_.size() && under_way_[first_].over) ++first_;
    if (2 * first_ < under_way_.size()) return;
    under_way_.erase(under_way_.begin(), under_way_.begin() + static_cast<ptrdiff_t>(first_));
    first_ = 0;
  }

  uint32_t last_number_;
  std::vector<Sent> under_way_;  // ascending
  size_t first_ = 0;             // of them that is not over
  Acknowledgements heard_;
  size_t written_ = 0;  // of its numbers
  Instant heard_since_;
};

}  // namespace weir

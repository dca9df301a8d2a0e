#include "mail/mailroom.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace weir {
namespace {

void Append(std::vector<Envelope> more, std::vector<Envelope>& all) {
  if (all.empty()) {
    all = std::move(more);
  } else {
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  }
}

}  // namespace

void Mailroom::Give(std::initializer_list<EnvelopeKind> kinds, Correspondent& correspondent) {
  boxes_.push_back(&correspondent);
  for (const EnvelopeKind kind : kinds) {
    Correspondent*& reader = by_kind_[static_cast<uint8_t>(kind)];
    assert(reader == nullptr);
    reader = &correspondent;
  }
}

void Mailroom::SetPeers(std::vector<uint32_t> peers) {
  for (Correspondent* box : boxes_) box->SetPeers(peers);
}

std::vector<Envelope> Mailroom::Tick(Instant now) {
  std::vector<Envelope> out;
  for (Correspondent* box : boxes_) {
    if (box->NextTick() <= now) Append(box->Tick(now), out);
  }
  return out;
}

Instant Mailroom::NextTick() const {
  Instant next = kEndOfTime;
  for (const Correspondent* box : boxes_) next = std::min(next, box->NextTick());
  return next;
}

std::vector<Envelope> Mailroom::Receive(std::string_view bytes, Instant now, bool& good) {
  good = false;
  if (bytes.empty()) return {};
  Correspondent* reader = by_kind_[static_cast<uint8_t>(bytes.front())];
  if (reader != nullptr) return reader->Receive(bytes, now, good);
  unknown_.fetch_add(1, std::memory_order_relaxed);
  return {};
}

std::vector<Envelope> Mailroom::Farewell(Instant now) {
  std::vector<Envelope> out;
  for (Correspondent* box : boxes_) Append(box->Farewell(now), out);
  return out;
}

// What one leaves of the slice is for the next.
Slice Mailroom::Everything(uint32_t to, CopyCursor& cursor, const SliceSize& most, Instant now) {
  Slice all;
  SliceSize left = most;
  while (cursor.box < boxes_.size()) {
    Slice slice = boxes_[cursor.box]->Everything(to, cursor, left, now);
    all.keys += slice.keys;
    left.keys -= std::min(left.keys, slice.keys);
    for (const Envelope& envelope : slice.envelopes) {
      left.bytes -= std::min(left.bytes, envelope.bytes.size() + most.around);
    }
    Append(std::move(slice.envelopes), all.envelopes);
    if (!slice.last) return all;
    cursor.NextBox();
  }
  all.last = true;
  return all;
}

}  // namespace weir

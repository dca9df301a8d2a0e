#include "lab/chaos/planted/transcript.h"

#include "mail/delivery.h"
#include "replication/debt_wire.h"
#include "replication/ticks.h"

namespace weir::chaos {
namespace {

class Transcript {
 public:
  Transcript(const std::string& bytes, const Lies& lies) : from_(bytes), lies_(lies), to_(Head()) {}

  std::string Write() {
    switch (from_.head().kind) {
      case EnvelopeKind::kCounter:
      case EnvelopeKind::kQueue: Acknowledgements(); break;
      case EnvelopeKind::kDebt: Received(); break;
    }
    while (from_.ok() && from_.left() > 0) {
      switch (from_.head().kind) {
        case EnvelopeKind::kCounter: CounterKey(); break;
        case EnvelopeKind::kQueue: QueueKey(); break;
        case EnvelopeKind::kDebt: DebtRows(); break;
      }
    }
    return from_.done() ? to_.Take() : std::string();
  }

 private:
  EnvelopeHead Head() const {
    EnvelopeHead head = from_.head();
    if (lies_.head) lies_.head(head);
    return head;
  }
  uint64_t Copy() {
    const uint64_t number = from_.Number();
    to_.Number(number);
    return number;
  }
  void Acknowledgements() {
    const uint64_t count = Copy();
    if (count > 0) Copy();  // the life that is acknowledged to
    for (uint64_t i = 0; i < count && from_.ok(); ++i) Copy();
  }
  void Received() {
    DebtHead head = ReadDebtHead(from_);
    if (lies_.acknowledged) lies_.acknowledged(head.have);
    WriteDebtHead(to_, head);
  }
  Key CopyName() {
    const Key key = from_.Name();
    to_.Name(key);
    return key;
  }
  Key CopyKey() {
    const Key key = CopyName();
    WriteBucket(to_, ReadBucket(from_));
    return key;
  }
  void Lie(const Key& key, ToldRow& row) const {
    if (lies_.row) lies_.row(key, row);
  }

  void CounterKey() {
    const Key key = CopyKey();
    Copy(), Copy();  // limit: tokens and the rest
    const uint64_t count = Copy();
    for (uint64_t i = 0; i < count && from_.ok(); ++i) {
      ToldRow row{from_.Life(), 0, 0, from_.Number(), from_.Number()};
      Lie(key, row);
      to_.Life(row.origin);
      to_.Number(row.charged);
      to_.Number(row.refunded);
    }
  }
  void QueueKey() {
    const Key key = CopyKey();
    const uint64_t count = Copy();
    for (uint64_t i = 0; i < count && from_.ok(); ++i) {
      ToldRow row{from_.Life(), from_.Number()};
      const uint64_t weight = from_.Number();
      row.charged = weight / 2;
      if (weight % 2 == 1) row.refunded = from_.Number();
      row.age = from_.Number();
      Lie(key, row);
      to_.Life(row.origin);
      to_.Number(row.segment);
      to_.Number(row.charged * 2 + (row.refunded > 0));
      if (row.refunded > 0) to_.Number(row.refunded);
      to_.Number(row.age);
      Copy(), Copy();  // life: tokens and the rest
    }
  }
  // Ages come back as they were, for they are read and written at one instant.
  void DebtRows() {
    const Instant now = FromNanos(int64_t{1} << 62);
    DebtRowsWriter rows(Head().sender, now);
    for (weir::ToldRow& told : ReadDebtRows(from_, now)) {
      const auto age = static_cast<uint64_t>((now - told.row.epoch) / kAgeOfRow);
      ToldRow row{told.row.origin,  told.row.segment,  age,
                  told.row.charged, told.row.refunded, told.state.name.window,
                  told.state.keep};
      Lie(told.state.name.key, row);
      told.row.origin = row.origin;
      told.row.segment = row.segment;
      told.row.epoch = now - static_cast<int64_t>(row.age) * kAgeOfRow;
      told.row.charged = row.charged;
      told.row.refunded = row.refunded;
      told.state.name.window = row.window;
      told.state.keep = row.keep;
      rows.Add(told.state, told.row);
    }
    for (const char byte : rows.Take()) to_.Byte(static_cast<uint8_t>(byte));
  }
  EnvelopeReader from_;
  const Lies& lies_;
  EnvelopeWriter to_;
};

}  // namespace

std::string Transcribed(const std::string& bytes, const Lies& lies) {
  std::string written = Transcript(bytes, lies).Write();
  return written.empty() ? bytes : written;
}

}  // namespace weir::chaos

// An envelope of a copy (copy.h) of states whose changes are told by Deltas: like theirs, but it has no
// number, for nobody has to say that it came. Whoever copies gets all of it, or asks again.
#pragma once

#include <optional>
#include <string>

#include "replication/copy.h"

namespace weir {

// The book writes what is a key's and what is a row's: WriteKey, WriteRow. Rows have RowBefore and MarkOf.
template <typename Book>
class CopyLetter {
 public:
  CopyLetter(const Book& book, EnvelopeKind kind, Origin self, Instant now)
      : book_(book), now_(now), head_(Head(kind, self)) {}

  template <typename State>
  auto* Before(const State& state, const std::optional<RowMark>& mark) const {
    return Book::RowBefore(state, mark);
  }
  template <typename Row>
  RowMark MarkOf(const Row& row) const {
    return Book::MarkOf(row);
  }

  template <typename State, typename Row>
  bool Add(const Key& key, const State& state, const Row& row, size_t room) {
    if (rows_ == 0 || key != key_) Begin(key, state);
    const size_t before = of_rows_.size();
    book_.WriteRow(of_rows_, state, row, now_);
    const size_t size = head_.size() + body_.size() + of_key_.size() + of_rows_.size() - 2 * blank_;
    if (size + kCountBytes > room) {
      of_rows_.Cut(before);
      return false;
    }
    rows_ += 1;
    return true;
  }
  bool empty() const { return rows_ == 0 && body_.empty(); }
  std::string Take() {
    EndKey();
    std::string envelope = head_ + body_;
    body_.clear();
    return envelope;
  }

 private:
  static constexpr size_t kCountBytes = 2;

  static std::string Head(EnvelopeKind kind, Origin self) {
    EnvelopeWriter writer({kind, self, 0});
    writer.Number(0);  // acknowledgements
    return writer.Take();
  }
  template <typename State>
  void Begin(const Key& key, const State& state) {
    EndKey();
    key_ = key;
    of_key_.Cut(blank_);
    of_rows_.Cut(blank_);
    of_key_.Name(key);
    book_.WriteKey(of_key_, state, now_);
  }
  void EndKey() {
    if (rows_ == 0) return;
    of_key_.Number(rows_);
    body_ += of_key_.bytes().substr(blank_);
    body_ += of_rows_.bytes().substr(blank_);
    rows_ = 0;
  }

  const Book& book_;
  const Instant now_;
  const std::string head_;
  std::string body_;  // the keys before
  Key key_;
  size_t rows_ = 0;                                                  // of it
  EnvelopeWriter of_key_{EnvelopeHead{}}, of_rows_{EnvelopeHead{}};  // behind a head that is cut
  const size_t blank_ = of_key_.size();
};

}  // namespace weir

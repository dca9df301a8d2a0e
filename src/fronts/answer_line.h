// Answers in the order of the questions, though some of them are late.
//
//   questions     1     2     3     4     5
//   answers       now   late  now   late  now
//
//   link.out()    1
//   the line            (2)3        (4)5        a gap for each late answer, and what follows it
//
// As long as nothing is late, answers are written where they go out. Once one is, what follows it is kept
// behind its gap. When the first gap is filled, it and what is behind it go out, and so on to the next.
//
// So a peer may have many questions under way that another machine decides, and waits for one round trip
// instead of many. Bounded: how many, and how many bytes; a protocol takes nothing more while the line is
// full.
#pragma once

#include <cstddef>
#include <string>

#include "fronts/protocol.h"

namespace weir {

class AnswerLine {
 public:
  static constexpr size_t kMostGaps = 1024;

  // Who waits. Its answer is written to out() once it is known; then it is filled.
  class Gap {
   public:
    Gap() = default;
    Gap(const Gap&) = delete;
    Gap& operator=(const Gap&) = delete;
    std::string& out() { return answer_; }

    // It is out of the line: filled, or because the peer has gone before it was.
    virtual void Done() = 0;
    virtual void Abandoned(const Turn& now) = 0;

   protected:
    ~Gap() = default;

   private:
    friend class AnswerLine;
    std::string answer_;
    std::string behind_;
    bool filled_ = false;
    Gap* next_ = nullptr;
  };

  explicit AnswerLine(Link& link) : link_(link) {}

  // Where the answer to the next question is written, if it is known.
  std::string& out() { return last_ == nullptr ? link_.out() : last_->behind_; }
  // It is not.
  void Leave(Gap& gap) {
    gap.filled_ = false;
    gap.next_ = nullptr;
    if (last_ != nullptr) bytes_ += last_->behind_.size();
    (last_ == nullptr ? first_ : last_->next_) = &gap;
    last_ = &gap;
    count_ += 1;
  }
  // gap.out() has been written. What can go out does.
  void Fill(Gap& gap) {
    gap.filled_ = true;
    bytes_ += gap.answer_.size();
    if (&gap != first_) return;
    while (first_ != nullptr && first_->filled_) {
      Gap& sent = TakeFirst();
      link_.out().append(sent.answer_).append(sent.behind_);
      Reset(sent);
      sent.Done();
    }
    link_.FlushSoon();
  }
  // Nobody is there any more.
  void End(const Turn& now) {
    while (first_ != nullptr) {
      Gap& gap = TakeFirst();
      Reset(gap);
      gap.filled_ ? gap.Done() : gap.Abandoned(now);
    }
  }

  bool empty() const { return first_ == nullptr; }
  bool full() const { return count_ >= kMostGaps || bytes() > kMostUnsent; }
  // What is kept.
  size_t bytes() const { return bytes_ + (last_ == nullptr ? 0 : last_->behind_.size()); }

 private:
  static constexpr size_t kMostKept = 1024;

  Gap& TakeFirst() {
    Gap& gap = *first_;
    first_ = gap.next_;
    if (gap.filled_) bytes_ -= gap.answer_.size();
    if (first_ != nullptr) {
      bytes_ -= gap.behind_.size();
    } else {
      last_ = nullptr;
    }
    count_ -= 1;
    return gap;
  }
  // For the next answer, with memory of a usual size.
  static void Reset(Gap& gap) {
    for (std::string* text : {&gap.answer_, &gap.behind_}) {
      text->clear();
      if (text->capacity() > kMostKept) text->shrink_to_fit();
    }
  }

  Link& link_;
  Gap* first_ = nullptr;
  Gap* last_ = nullptr;
  size_t count_ = 0;
  size_t bytes_ = 0;  // of answers in filled gaps, and behind all but the last
};

}  // namespace weir

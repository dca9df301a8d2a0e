// The bytes of an answer of HTTP/1.1, as they come: by length, in chunks, or until the end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir {

class HttpAnswerReader {
 public:
  static constexpr size_t kMostBytes = size_t{64} << 20;

  // Takes what has come. False: it is no such answer, or a longer one than is taken.
  bool Feed(std::string_view bytes);
  // The connection has ended. False: in the middle of the answer.
  bool End();

  bool done() const { return step_ == Step::kDone; }
  // Nothing of an answer has come yet.
  bool untouched() const { return step_ == Step::kHead && in_.empty(); }
  size_t body_size() const { return body_.size(); }  // so far
  int status() const { return status_; }
  bool keeps() const { return keeps_; }  // the connection may be used again
  std::string TakeBody() { return std::move(body_); }

 private:
  enum class Step { kHead, kLength, kChunkSize, kChunk, kTrailer, kToTheEnd, kDone };

  bool Advance();  // false: needs more, or bad_
  bool ReadHead();
  bool ReadHeader(std::string_view name, std::string_view value);
  bool ReadChunkSize();
  bool TakeLeft();
  bool Bad();

  Step step_ = Step::kHead;
  std::string in_;  // not yet understood
  std::string body_;
  size_t left_ = 0;  // of the body or the chunk
  int status_ = 0;
  bool chunked_ = false, has_length_ = false, keeps_ = true, bad_ = false;
};

}  // namespace weir

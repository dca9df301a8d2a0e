#include "net/http_answer_reader.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>

#include <algorithm>
#include <charconv>

namespace weir {
namespace {

constexpr size_t kMostHead = 65536;

bool ReadNumber(std::string_view text, int base, size_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool Same(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase({a.data(), a.size()}, {b.data(), b.size()});
}

}  // namespace

bool HttpAnswerReader::Bad() {
  bad_ = true;
  return false;
}

bool HttpAnswerReader::Feed(std::string_view bytes) {
  in_ += bytes;
  while (!done() && Advance()) {
  }
  return !bad_ && body_.size() <= kMostBytes;
}

bool HttpAnswerReader::End() {
  if (step_ == Step::kToTheEnd) step_ = Step::kDone;
  return done();
}

bool HttpAnswerReader::Advance() {
  switch (step_) {
    case Step::kHead: return ReadHead();
    case Step::kLength:
    case Step::kChunk: return TakeLeft();
    case Step::kChunkSize:
    case Step::kTrailer: return ReadChunkSize();
    case Step::kToTheEnd:
      body_ += in_;
      in_.clear();
      return false;
    case Step::kDone: return false;
  }
  __builtin_unreachable();
}

bool HttpAnswerReader::ReadHead() {
  const size_t end = in_.find("\r\n\r\n");
  if (end == std::string::npos) return in_.size() > kMostHead ? Bad() : false;
  std::string_view head = std::string_view(in_).substr(0, end);
  const std::string_view first = head.substr(0, head.find("\r\n"));
  size_t status = 0;
  if (!first.starts_with("HTTP/1.") || first.size() < 12 ||
      !ReadNumber(first.substr(9, 3), 10, status)) {
    return Bad();
  }
  status_ = static_cast<int>(status);
  keeps_ = first.starts_with("HTTP/1.1");
  chunked_ = has_length_ = false;
  left_ = 0;
  head.remove_prefix(first.size());
  while (!head.empty()) {
    head.remove_prefix(2);
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(line.size());
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return Bad();
    if (!ReadHeader(line.substr(0, colon), Trimmed(line.substr(colon + 1)))) return Bad();
  }
  in_.erase(0, end + 4);
  const bool interim = status_ >= 100 && status_ < 200;
  const bool empty = status_ == 204 || status_ == 304;
  if (interim) return true;  // the answer comes yet
  step_ = empty         ? Step::kDone
          : chunked_    ? Step::kChunkSize
          : has_length_ ? (left_ == 0 ? Step::kDone : Step::kLength)
                        : Step::kToTheEnd;
  if (step_ == Step::kToTheEnd) keeps_ = false;
  body_.reserve(std::min(left_, kMostBytes));
  return true;
}

bool HttpAnswerReader::ReadHeader(std::string_view name, std::string_view value) {
  if (Same(name, "content-length")) {
    has_length_ = true;
    return ReadNumber(value, 10, left_) && left_ <= kMostBytes;
  }
  if (Same(name, "transfer-encoding")) {
    chunked_ = Same(value, "chunked");
    return chunked_;
  }
  if (Same(name, "connection") && Same(value, "close")) keeps_ = false;
  return true;
}

// The line with the size of the next chunk, or one behind the last.
bool HttpAnswerReader::ReadChunkSize() {
  const size_t end = in_.find("\r\n");
  if (end == std::string::npos) return in_.size() > kMostHead ? Bad() : false;
  const std::string line = in_.substr(0, end);
  in_.erase(0, end + 2);
  if (step_ == Step::kTrailer) {
    if (line.empty()) step_ = Step::kDone;
    return true;
  }
  if (line.empty()) return true;  // behind the chunk before
  if (!ReadNumber(Trimmed(std::string_view(line).substr(0, line.find(';'))), 16, left_))
    return Bad();
  if (left_ > kMostBytes) return Bad();
  step_ = left_ == 0 ? Step::kTrailer : Step::kChunk;
  return true;
}

bool HttpAnswerReader::TakeLeft() {
  const size_t here = std::min(left_, in_.size());
  if (here == 0) return false;
  body_.append(in_, 0, here);
  in_.erase(0, here);
  left_ -= here;
  if (body_.size() > kMostBytes) return Bad();
  if (left_ == 0) step_ = step_ == Step::kChunk ? Step::kChunkSize : Step::kDone;
  return true;
}

}  // namespace weir

#include "cluster/net/frame_stream.h"

#include <sys/socket.h>

#include <cerrno>

namespace weir::cluster {
namespace {

constexpr size_t kLengthBytes = 4;

uint32_t LengthOf(std::string_view frame) {
  uint32_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) {
    length |= uint32_t{static_cast<uint8_t>(frame[i])} << (8 * i);
  }
  return length;
}

}  // namespace

// Until `wanted` bytes are in in_.
FrameStream::Outcome FrameStream::Fill(size_t wanted) {
  while (in_.size() < wanted) {
    const size_t had = in_.size();
    in_.resize(wanted);
    const ssize_t n = recv(socket_.get(), in_.data() + had, wanted - had, 0);
    in_.resize(had + static_cast<size_t>(n > 0 ? n : 0));
    if (n > 0 || (n < 0 && errno == EINTR)) continue;
    return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Outcome::kWait : Outcome::kBroken;
  }
  return Outcome::kDone;
}

FrameStream::Outcome FrameStream::Read(std::string& frame) {
  if (const Outcome head = Fill(kLengthBytes); head != Outcome::kDone) return head;
  const uint32_t length = LengthOf(in_);
  if (length == 0 || length > most_) return Outcome::kBroken;
  if (const Outcome body = Fill(kLengthBytes + length); body != Outcome::kDone) return body;
  frame.assign(in_, kLengthBytes);
  in_.clear();
  return Outcome::kDone;
}

void FrameStream::Write(std::string_view frame) {
  const auto length = static_cast<uint32_t>(frame.size());
  for (size_t i = 0; i < kLengthBytes; ++i) out_.push_back(static_cast<char>(length >> (8 * i)));
  out_ += frame;
}

FrameStream::Outcome FrameStream::Flush() {
  while (!out_.empty()) {
    const ssize_t n = send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const bool later = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOTCONN;
      return later ? Outcome::kWait : Outcome::kBroken;
    }
    out_.erase(0, static_cast<size_t>(n));
  }
  return Outcome::kDone;
}

}  // namespace weir::cluster

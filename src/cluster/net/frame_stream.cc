#include "cluster/net/frame_stream.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace weir::cluster {

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
  uint32_t length = 0;
  if (const Outcome head = Fill(sizeof length); head != Outcome::kDone) return head;
  std::memcpy(&length, in_.data(), sizeof length);
  if (length == 0 || length > most_) return Outcome::kBroken;
  if (const Outcome body = Fill(sizeof length + length); body != Outcome::kDone) return body;
  frame.assign(in_, sizeof length);
  in_.clear();
  return Outcome::kDone;
}

void FrameStream::Write(std::string_view frame) {
  const auto length = static_cast<uint32_t>(frame.size());
  out_.append(reinterpret_cast<const char*>(&length), sizeof length);
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

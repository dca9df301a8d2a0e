#include "fronts/grpc/grpc_call.h"

#include <algorithm>

#include "base/heap_bytes.h"
#include "fronts/grpc/http2_session.h"

namespace weir {
namespace {

constexpr size_t kUsualBytes = size_t{1} << 10;

void Empty(std::string& text) {
  if (text.capacity() > kUsualBytes) {
    Release(text);
  } else {
    text.clear();
  }
}

}  // namespace

void GrpcCall::Write(std::string_view message) { session.Write(*this, message); }
void GrpcCall::Finish(const GrpcStatus& how) { session.Finish(*this, how); }
void GrpcCall::Answer(const GrpcStatus& how, std::string_view message) {
  waiter = nullptr;
  if (how.ok()) session.Write(*this, message);
  session.Finish(*this, how);
}

Link& GrpcCall::link() { return session.link(); }
const Reach* GrpcCall::ReachNow() const { return session.ReachNow(*this); }

void GrpcCall::Clear() {
  id = 0;
  method = nullptr;
  is_post = is_grpc = bad_timeout = responded = finished = false;
  header_bytes = sent = 0;
  partial_since = finished_at = {};
  timeout.reset();
  metadata.Clear();
  reach = &kEverywhere;
  policy_version = 0;
  Empty(in);
  Empty(out);
  status.code = GrpcCode::kOk;
  status.message.clear();
  streaming.reset();
}

size_t GrpcCall::RoomFor(size_t more) const {
  const size_t needed = in.size() + more;
  if (needed <= in.capacity()) return in.capacity();
  const size_t message = in.size() < kMessageHead ? 0 : kMessageHead + MessageLength(in);
  return std::max(needed, std::min(2 * in.capacity(), message));
}

void GrpcCall::Take(std::string_view bytes, size_t room) {
  if (room > in.capacity()) {  // a string that grows takes twice of what it had
    std::string larger;
    larger.reserve(room);
    in.swap(larger.append(in));
  }
  in.append(bytes);
}

size_t MessageLength(std::string_view head) {
  size_t length = 0;
  for (size_t i = 1; i < kMessageHead; ++i) {
    length = length << 8 | static_cast<unsigned char>(head[i]);
  }
  return length;
}

void PutMessageHead(char* head, size_t length) {
  head[0] = 0;
  for (int i = 1; i <= 4; ++i) head[i] = static_cast<char>(length >> (32 - 8 * i));
}

}  // namespace weir

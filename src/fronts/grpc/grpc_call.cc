#include "fronts/grpc/grpc_call.h"

#include "fronts/grpc/http2_session.h"

namespace weir {
namespace {

constexpr size_t kUsualBytes = size_t{1} << 10;

void Empty(std::string& text) {
  if (text.capacity() > kUsualBytes) {
    text = std::string();
  } else {
    text.clear();
  }
}

}  // namespace

void GrpcCall::Write(std::string_view message) { session.Write(*this, message); }
void GrpcCall::Finish(const GrpcStatus& how) { session.Finish(*this, how); }
Link& GrpcCall::link() { return session.link(); }

void GrpcCall::Clear() {
  id = 0;
  method = nullptr;
  is_post = is_grpc = bad_timeout = responded = finished = false;
  header_bytes = sent = 0;
  partial_since = finished_at = {};
  timeout.reset();
  metadata.Clear();
  reach = &kEverywhere;
  Empty(in);
  Empty(out);
  status.code = GrpcCode::kOk;
  status.message.clear();
  streaming.reset();
}

void PutMessageHead(char* head, size_t length) {
  head[0] = 0;
  for (int i = 1; i <= 4; ++i) head[i] = static_cast<char>(length >> (32 - 8 * i));
}

}  // namespace weir

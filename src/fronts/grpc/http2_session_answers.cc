// What leaves an Http2Session: headers, messages, trailers, and the frames of it all.
#include <algorithm>
#include <cstring>

#include "fronts/grpc/http2_session.h"

namespace weir {
namespace {

constexpr size_t kMostStatusText = 512;

uint8_t* Bytes(std::string_view text) {
  return const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
}

// A header whose name and value live for ever.
nghttp2_nv Constant(std::string_view name, std::string_view value) {
  return {Bytes(name), Bytes(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

// A header whose value is copied, and not worth remembering.
nghttp2_nv Passing(std::string_view name, std::string_view value) {
  return {Bytes(name), Bytes(value), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_INDEX};
}

// One header or two; `text` keeps the second.
size_t PutStatus(const GrpcStatus& status, nghttp2_nv* headers, std::string& text) {
  headers[0] = Constant("grpc-status", GrpcCodeText(status.code));
  if (status.message.empty()) return 1;
  text = PercentEncoded(std::string_view(status.message).substr(0, kMostStatusText));
  headers[1] = Passing("grpc-message", text);
  return 2;
}

}  // namespace

void Http2Session::Write(GrpcCall& call, std::string_view message) {
  if (call.finished) return;
  char head[kMessageHead];
  PutMessageHead(head, message.size());
  const size_t before = call.out.capacity();
  call.out.append(head, kMessageHead).append(message);
  held_ += call.out.capacity() - before;
  if (!link_.trusted()) Trust();
  held_out_ += kMessageHead + message.size();
  Respond(call);
  PumpLater();
}

void Http2Session::Finish(GrpcCall& call, const GrpcStatus& status) {
  if (call.finished) return;
  call.finished = true;
  call.finished_at = now_ != nullptr ? now_->at() : link_.clock().Now();
  if (now_ != nullptr) AbandonWaiter(call);  // who answers late waits no more
  call.status = status;
  if (call.responded) {
    nghttp2_session_resume_data(session_, call.id);
  } else {
    SubmitTrailersOnly(call);
  }
  PumpLater();
}

void Http2Session::Respond(GrpcCall& call) {
  if (held_out_ > options_.max_connection_bytes / 4) {
    overrun_ = true;
    return;
  }
  if (call.responded) {
    nghttp2_session_resume_data(session_, call.id);
    return;
  }
  static const nghttp2_nv headers[] = {Constant(":status", "200"),
                                       Constant("content-type", "application/grpc")};
  nghttp2_data_provider provider;
  provider.source.ptr = &call;
  provider.read_callback = [](nghttp2_session*, int32_t, uint8_t* buffer, size_t size,
                              uint32_t* flags, nghttp2_data_source* source, void* user) {
    return static_cast<Http2Session*>(user)->ReadOut(*static_cast<GrpcCall*>(source->ptr), buffer,
                                                     size, *flags);
  };
  call.responded = true;
  nghttp2_submit_response(session_, call.id, headers, std::size(headers), &provider);
}

ssize_t Http2Session::ReadOut(GrpcCall& call, uint8_t* buffer, size_t size, uint32_t& flags) {
  const size_t taken = std::min(size, call.unsent());
  if (taken == 0 && !call.finished) return NGHTTP2_ERR_DEFERRED;
  std::memcpy(buffer, call.out.data() + call.sent, taken);
  call.sent += taken;
  held_out_ -= taken;
  if (call.unsent() == 0) {
    call.out.clear();
    call.sent = 0;
    if (call.finished) {
      flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      SubmitTrailers(call);
    }
  }
  return static_cast<ssize_t>(taken);
}

void Http2Session::SubmitTrailers(GrpcCall& call) {
  std::string text;
  nghttp2_nv trailers[2];
  nghttp2_submit_trailer(session_, call.id, trailers, PutStatus(call.status, trailers, text));
}

void Http2Session::SubmitTrailersOnly(GrpcCall& call) {
  std::string text;
  nghttp2_nv headers[5] = {Constant(":status", "200"),
                           Constant("content-type", "application/grpc")};
  size_t count = 2 + PutStatus(call.status, headers + 2, text);
  if (call.status.code == GrpcCode::kUnimplemented) {
    headers[count++] = Constant("grpc-accept-encoding", "identity");
  }
  call.responded = true;
  nghttp2_submit_response(session_, call.id, headers, count, nullptr);
}

void Http2Session::AnswerHttp(GrpcCall& call, std::string_view status) {
  const nghttp2_nv headers[] = {Constant(":status", status), Constant("content-length", "0"),
                                Constant("allow", "POST")};
  call.finished = call.responded = true;
  if (now_ != nullptr) call.finished_at = *now_;
  nghttp2_submit_response(session_, call.id, headers, status == "405" ? 3 : 2, nullptr);
}

void Http2Session::OnSent(const nghttp2_frame& frame) {
  if (frame.hd.type != NGHTTP2_HEADERS || (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return;
  // Answered before all of it came: the rest is not wanted.
  if (nghttp2_session_get_stream_remote_close(session_, frame.hd.stream_id) == 0) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, frame.hd.stream_id, NGHTTP2_NO_ERROR);
  }
}

void Http2Session::Pump() {
  const uint8_t* bytes = nullptr;
  ssize_t size = 0;
  while ((size = nghttp2_session_mem_send(session_, &bytes)) > 0) {
    link_.out().append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
  }
  if (size < 0) failed_ = true;
}

void Http2Session::PumpLater() {
  if (busy_ || failed_) return;
  {
    const Turn now(link_.clock());
    const InTurn in_turn(*this, now);
    if (overrun_) {
      Fail(NGHTTP2_ENHANCE_YOUR_CALM);
    } else {
      Pump();
    }
  }
  link_.FlushSoon();
}

void Http2Session::Fail(uint32_t error) {
  nghttp2_session_terminate_session(session_, error);
  Pump();
  failed_ = true;
}

}  // namespace weir

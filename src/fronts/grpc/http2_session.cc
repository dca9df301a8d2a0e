#include "fronts/grpc/http2_session.h"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "fronts/grpc/grpc_timeout.h"

namespace weir {
namespace {

constexpr int32_t kConnectionWindow = 1 << 20;
// Is read before answers are looked at: little, so that the memory of a few calls does for many.
constexpr size_t kSlice = size_t{4} << 10;
constexpr size_t kKeptForMessages = size_t{8} << 10;  // of calls that are under way
constexpr Duration kDrainWait = std::chrono::seconds(1);
constexpr uint8_t kDrainPing[8] = {'d', 'r', 'a', 'i', 'n', 0, 0, 0};

// "application/grpc", also with +proto and with parameters.
bool IsGrpc(std::string_view content_type) {
  constexpr std::string_view kGrpc = "application/grpc", kProto = "+proto";
  if (!content_type.starts_with(kGrpc)) return false;
  content_type.remove_prefix(kGrpc.size());
  if (content_type.starts_with(kProto)) content_type.remove_prefix(kProto.size());
  return content_type.empty() || content_type[0] == ';' || content_type[0] == ' ';
}

// Memory for libnghttp2, counted.
struct Metered {
  static size_t& Sum(void* user) { return *static_cast<size_t*>(user); }
  static void* Count(void* memory, void* user) {
    if (memory != nullptr) Sum(user) += malloc_usable_size(memory);
    return memory;
  }
  static void* Malloc(size_t size, void* user) { return Count(std::malloc(size), user); }
  static void* Calloc(size_t n, size_t size, void* user) {
    return Count(std::calloc(n, size), user);
  }
  static void Free(void* memory, void* user) {
    if (memory == nullptr) return;
    Sum(user) -= malloc_usable_size(memory);
    std::free(memory);
  }
  static void* Realloc(void* memory, size_t size, void* user) {
    const size_t before = memory == nullptr ? 0 : malloc_usable_size(memory);
    void* const after = std::realloc(memory, size);
    if (after != nullptr) Sum(user) += malloc_usable_size(after) - before;
    return after;
  }
};

GrpcStatus TooLate() {
  return {GrpcCode::kDeadlineExceeded, "overloaded: the deadline has passed"};
}
GrpcStatus Overloaded() {
  return ToGrpcStatus(Code::kOverloaded, "the server is busy: this waited too long");
}

}  // namespace

struct Http2Session::Callbacks {
  static Http2Session& Self(void* user) { return *static_cast<Http2Session*>(user); }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    return Self(user).OnBeginHeaders(frame->hd.stream_id);
  }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user) {
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    return Self(user).OnHeader(frame->hd.stream_id,
                               {reinterpret_cast<const char*>(name), name_size},
                               {reinterpret_cast<const char*>(value), value_size});
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    return Self(user).OnFrame(*frame);
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size,
                    void* user) {
    return Self(user).OnData(stream, {reinterpret_cast<const char*>(data), size});
  }
  static int OnClose(nghttp2_session*, int32_t stream, uint32_t error, void* user) {
    Self(user).OnClose(stream, error);
    return 0;
  }
  static int OnSent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    Self(user).OnSent(*frame);
    return 0;
  }

  static nghttp2_session_callbacks* Make() {
    nghttp2_session_callbacks* all = nullptr;
    if (nghttp2_session_callbacks_new(&all) != 0) throw std::bad_alloc();
    nghttp2_session_callbacks_set_on_begin_headers_callback(all, OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(all, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(all, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(all, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(all, OnClose);
    nghttp2_session_callbacks_set_on_frame_send_callback(all, OnSent);
    return all;
  }
};

namespace {

nghttp2_option* MakeOption() {
  nghttp2_option* option = nullptr;
  if (nghttp2_option_new(&option) != 0) throw std::bad_alloc();
  nghttp2_option_set_no_closed_streams(option, 1);
  // FrameMeter judges resets, by the peer's calls too.
  nghttp2_option_set_stream_reset_rate_limit(option, uint64_t{1} << 30, uint64_t{1} << 30);
  return option;
}

}  // namespace

Http2Session::Http2Session(Link& link, const MethodTable& methods, const GrpcOptions& options)
    : link_(link), methods_(methods), options_(options) {
  static nghttp2_session_callbacks* const callbacks = Callbacks::Make();
  static nghttp2_option* const option = MakeOption();
  nghttp2_mem memory = {&library_bytes_, Metered::Malloc, Metered::Free, Metered::Calloc,
                        Metered::Realloc};
  if (nghttp2_session_server_new3(&session_, callbacks, this, option, &memory) != 0) {
    throw std::bad_alloc();
  }
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
       std::min(options_.max_streams, options_.max_streams_at_first)},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<uint32_t>(options_.max_header_bytes)},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  };
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  bytes_when_empty_ = bytes();
}

Http2Session::~Http2Session() {
  const Turn now(link_.clock());
  const InTurn in_turn(*this, now);
  EndCalls(now);
  nghttp2_session_del(session_);
}

void Http2Session::Closed(const Turn& now) {
  const InTurn in_turn(*this, now);
  EndCalls(now);
}

void Http2Session::HalfClosed(const Turn& now) {
  const InTurn in_turn(*this, now);
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (calls_[i]->id != 0 && calls_[i]->streaming) calls_[i]->streaming->OnPeerDone(now);
  }
}

bool Http2Session::owes() const {
  return std::any_of(calls_.begin(), calls_.end(), [](const auto& call) {
    const bool waits = call->waiter != nullptr || (call->streaming && call->streaming->owes());
    return call->id != 0 && !call->finished && waits;
  });
}

size_t Http2Session::bytes() const {
  return library_bytes_ + sizeof *this + calls_.size() * sizeof(GrpcCall) + held_ +
         held_by_streams_;
}

void Http2Session::Trust() {
  link_.Trust();
  if (options_.max_streams <= options_.max_streams_at_first) return;
  const nghttp2_settings_entry more = {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS,
                                       options_.max_streams};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &more, 1);
}

void Http2Session::EndCalls(const Turn& now) {
  busy_ = true;  // nothing that is written now is sent
  for (const auto& call : calls_) {
    if (call->id == 0) continue;
    call->finished = true;
    AbandonWaiter(*call);
    if (!call->streaming) continue;
    call->streaming->OnEnd(now);
    ended_.push_back(std::move(call->streaming));
  }
}

size_t Http2Session::Receive(std::string_view in, const Turn& now) {
  const InTurn in_turn(*this, now);
  ended_.clear();
  size_t used = 0;
  while (used < in.size() && !done() && !link_.full()) {
    const std::string_view slice = in.substr(used, kSlice);
    Take(slice);
    used += slice.size();
  }
  return done() ? in.size() : used;
}

void Http2Session::Take(std::string_view in) {
  if (!meter_.Walk(in, *now_)) {
    Fail(NGHTTP2_ENHANCE_YOUR_CALM);
    return;
  }
  const ssize_t taken =
      nghttp2_session_mem_recv(session_, reinterpret_cast<const uint8_t*>(in.data()), in.size());
  if (taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC) {
    failed_ = true;  // not HTTP/2: no frame of ours would be understood
  } else if (taken < 0 || overrun_) {
    const bool flood = overrun_ || taken == NGHTTP2_ERR_FLOODED;
    Fail(flood ? NGHTTP2_ENHANCE_YOUR_CALM : NGHTTP2_INTERNAL_ERROR);
  } else {
    Pump();
  }
}

void Http2Session::Drain(const Turn& now) {
  if (draining_ || done()) return;
  draining_ = true;
  drain_began_ = now;
  const InTurn in_turn(*this, now);
  nghttp2_submit_shutdown_notice(session_);
  nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, kDrainPing);
  Pump();
}

void Http2Session::Tick(const Turn& now) {
  if (done()) return;
  const InTurn in_turn(*this, now);
  if (meter_.Unfinished(now) > options_.call_deadline) Fail(NGHTTP2_ENHANCE_YOUR_CALM);
  held_by_streams_ = 0;
  for (size_t i = 0; i < calls_.size(); ++i) {
    GrpcCall& call = *calls_[i];
    if (call.id == 0) continue;
    if (call.streaming) held_by_streams_ += call.streaming->bytes();
    if (StillMay(call)) EndIfLate(call);
  }
  if (draining_ && !drained_ && now.at() - drain_began_ > kDrainWait) FinishDrain();
  if (open_ == 0) DropPool();
  if (!failed_) Pump();
}

void Http2Session::EndIfLate(GrpcCall& call) {
  const Instant at = *now_;
  const auto late = [&](Instant since) { return at - since > options_.call_deadline; };
  if (call.finished) {
    if (call.finished_at == Instant{}) call.finished_at = at;  // it was late itself
    if (late(call.finished_at)) {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, call.id, NGHTTP2_CANCEL);
    }
    return;
  }
  if (call.PastDeadline(at)) return Finish(call, TooLate());
  if (call.waiter != nullptr) return;  // it is not the peer who is late
  if (!call.streaming ? late(call.begun) : !call.in.empty() && late(call.partial_since)) {
    Finish(call, {GrpcCode::kDeadlineExceeded, "the request did not come to its end in time"});
  }
}

void Http2Session::FinishDrain() {
  drained_ = true;
  // Those never end by themselves.
  for (size_t i = 0; i < calls_.size(); ++i) {
    GrpcCall& call = *calls_[i];
    if (call.id != 0 && call.streaming) {
      Finish(call, {GrpcCode::kUnavailable, "the server is going down"});
    }
  }
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
}

bool Http2Session::idle() const { return meter_.whole() && open_ == 0 && (!draining_ || drained_); }

bool Http2Session::done() const {
  return failed_ ||
         (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

// ---- What arrives

int Http2Session::OnBeginHeaders(int32_t stream) {
  if (bytes() + sizeof(GrpcCall) + kKeptForMessages > most_bytes()) {
    nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_REFUSED_STREAM);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }
  GrpcCall& call = TakeCall(stream);
  call.begun = now_->at() - link_.waited();
  nghttp2_session_set_stream_user_data(session_, stream, &call);
  last_ = &call;
  return 0;
}

int Http2Session::OnHeader(int32_t stream, std::string_view name, std::string_view value) {
  GrpcCall* call = Find(stream);
  if (call == nullptr) return 0;
  call->header_bytes += name.size() + value.size() + 32;
  if (call->header_bytes > options_.max_header_bytes) {
    // A little too much gets an answer; far too much is not even looked at.
    const bool far = call->header_bytes > 4 * options_.max_header_bytes;
    return far ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE : 0;
  }
  if (name == ":path") {
    call->method = methods_.Find(value);
  } else if (name == ":method") {
    call->is_post = value == "POST";
  } else if (name == "content-type") {
    call->is_grpc = IsGrpc(value);
  } else if (name == "grpc-timeout") {
    call->timeout = ParseGrpcTimeout(value);
    call->bad_timeout = !call->timeout;
  } else if (name == "authorization") {  // others nobody asks for
    if (bytes() + value.size() + kKeptForMessages > most_bytes()) {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_REFUSED_STREAM);
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    const size_t before = call->metadata.bytes();
    call->metadata.Add(name, value);
    held_ += call->metadata.bytes() - before;
  }
  return 0;
}

int Http2Session::OnFrame(const nghttp2_frame& frame) {
  switch (frame.hd.type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_DATA: {
      GrpcCall* call = Find(frame.hd.stream_id);
      if (call == nullptr) break;
      if (frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST) {
        BeginCall(*call);
      }
      if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) HalfClose(*call);
      break;
    }
    case NGHTTP2_PING:
      if ((frame.hd.flags & NGHTTP2_FLAG_ACK) != 0 && draining_ && !drained_ &&
          std::memcmp(frame.ping.opaque_data, kDrainPing, sizeof kDrainPing) == 0) {
        FinishDrain();
      }
      break;
    default: break;
  }
  return overrun_ ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

int Http2Session::OnData(int32_t stream, std::string_view bytes) {
  GrpcCall* call = Find(stream);
  if (call == nullptr || call->finished) return 0;
  const size_t before = call->in.capacity(), room = call->RoomFor(bytes.size());
  if (this->bytes() + room - before > most_bytes()) {
    Finish(*call, {GrpcCode::kResourceExhausted, "too much is under way on this connection"});
    return 0;
  }
  if (call->in.empty()) call->partial_since = *now_;
  call->Take(bytes, room);
  held_ += call->in.capacity() - before;
  ReadMessages(*call);
  return overrun_ ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

void Http2Session::OnClose(int32_t stream, uint32_t error) {
  GrpcCall* call = Find(stream);
  if (call == nullptr) return;
  if (error == NGHTTP2_NO_ERROR) meter_.CallAnswered();
  GiveBack(*call);
}

void Http2Session::BeginCall(GrpcCall& call) {
  if (call.header_bytes > options_.max_header_bytes) {
    Finish(call, {GrpcCode::kResourceExhausted, "the headers are too long"});
  } else if (!call.is_post) {
    AnswerHttp(call, "405");
  } else if (!call.is_grpc) {
    AnswerHttp(call, "415");
  } else if (call.method == nullptr) {
    Finish(call, {GrpcCode::kUnimplemented, "there is no such method"});
  } else if (options_.policy != nullptr && !May(call)) {
    // is answered
  } else if (call.bad_timeout) {
    Finish(call, {GrpcCode::kInvalidArgument, "grpc-timeout is not digits and a unit"});
  } else if (call.PastDeadline(*now_)) {
    link_.CountRefused();
    Finish(call, TooLate());
  } else if (call.method->decides() && link_.late()) {
    link_.CountRefused();
    Finish(call, Overloaded());
  } else if (call.method->streaming) {
    call.streaming = call.method->streaming(call, Context(call));
  }
}

bool Http2Session::FitsHead(GrpcCall& call, std::string_view head, size_t& length) {
  length = MessageLength(head);
  if (head[0] == 1) {
    Finish(call, {GrpcCode::kUnimplemented, "compressed messages are not understood"});
  } else if (head[0] != 0) {
    Finish(call, {GrpcCode::kInternal, "a message begins with neither 0 nor 1"});
  } else if (length > options_.max_message_bytes) {
    Finish(call, {GrpcCode::kResourceExhausted, "the message is too long"});
  }
  return !call.finished;
}

void Http2Session::ReadMessages(GrpcCall& call) {
  size_t used = 0;
  while (!call.finished && call.in.size() - used >= kMessageHead) {
    const std::string_view rest = std::string_view(call.in).substr(used);
    size_t length = 0;
    if (!FitsHead(call, rest, length)) break;
    if (!call.streaming) {
      if (rest.size() > kMessageHead + length) {
        Finish(call, {GrpcCode::kUnimplemented, "a unary call takes one message"});
      }
      return;
    }
    if (rest.size() < kMessageHead + length) break;
    if (call.PastDeadline(*now_)) {
      Finish(call, TooLate());
      break;
    }
    if (!StillMay(call)) break;
    call.streaming->OnMessage(rest.substr(kMessageHead, length), Context(call));
    used += kMessageHead + length;
  }
  if (call.finished) used = call.in.size();
  call.in.erase(0, used);
  if (used > 0) call.partial_since = *now_;
}

void Http2Session::HalfClose(GrpcCall& call) {
  if (call.finished) return;
  if (call.PastDeadline(*now_)) {
    link_.CountRefused();
    Finish(call, TooLate());
  } else if (!StillMay(call)) {
    // is answered
  } else if (!call.streaming) {
    AnswerUnary(call);
  } else if (!call.in.empty()) {
    Finish(call, {GrpcCode::kInternal, "the message is cut off"});
  } else {
    call.streaming->OnHalfClose(Context(call));
  }
}

void Http2Session::AnswerUnary(GrpcCall& call) {
  size_t length = 0;
  if (call.in.empty()) {
    Finish(call, {GrpcCode::kUnimplemented, "a unary call takes one message"});
    return;
  }
  // That there is no more than one message, and its head is right, was seen when it came.
  if (call.in.size() < kMessageHead || !FitsHead(call, call.in, length) ||
      call.in.size() < kMessageHead + length) {
    Finish(call, {GrpcCode::kInternal, "the message is cut off"});
    return;
  }
  const size_t before = call.out.capacity();
  call.out.resize(kMessageHead);
  const std::string_view message = std::string_view(call.in).substr(kMessageHead);
  const UnaryAnswer answer = call.method->unary(message, Context(call), call.out);
  held_ += call.out.capacity() - before;
  if (answer.waiter != nullptr || !answer.status.ok()) call.out.clear();
  if (answer.waiter != nullptr) {
    call.waiter = answer.waiter;
    return;
  }
  if (!answer.status.ok()) return Finish(call, answer.status);
  PutMessageHead(call.out.data(), call.out.size() - kMessageHead);
  if (!link_.trusted()) Trust();
  call.finished = true;
  call.finished_at = *now_;
  held_out_ += call.out.size();
  Respond(call);
}

// ---- The pool

}  // namespace weir

#include "bench/holds/grpc_load.h"

#include <nghttp2/nghttp2.h>
#include <weir/v1/limiter.pb.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include "bench/load_socket.h"

namespace weir::bench {
namespace {

constexpr size_t kSubjects = 100'000;
constexpr size_t kPrefix = 5;  // of a message: a flag, four bytes of length

nghttp2_nv Header(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

class GrpcLoad::Stream {
 public:
  explicit Stream(int port) : socket_(port) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks,
        [](nghttp2_session*, uint8_t, int32_t, const uint8_t* data, size_t length, void* self) {
          static_cast<Stream*>(self)->in_.append(reinterpret_cast<const char*>(data), length);
          return 0;
        });
    nghttp2_session_client_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    const std::array<nghttp2_settings_entry, 1> settings = {
        {{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 24}}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
    const std::array<nghttp2_nv, 6> headers = {Header(":method", "POST"),
                                               Header(":scheme", "http"),
                                               Header(":path", "/weir.v1.Limiter/Session"),
                                               Header(":authority", "bench"),
                                               Header("content-type", "application/grpc"),
                                               Header("te", "trailers")};
    nghttp2_data_provider provider{};
    provider.source.ptr = this;
    provider.read_callback = [](nghttp2_session*, int32_t, uint8_t* to, size_t room, uint32_t*,
                                nghttp2_data_source* source, void*) -> ssize_t {
      return static_cast<Stream*>(source->ptr)->Give(to, room);
    };
    stream_ =
        nghttp2_submit_request(session_, nullptr, headers.data(), headers.size(), &provider, this);
    Flush();
  }
  ~Stream() { nghttp2_session_del(session_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Add(const v1::SessionRequest& request) {
    const std::string text = request.SerializeAsString();
    const auto length = static_cast<uint32_t>(text.size());
    out_.push_back('\0');
    for (int shift = 24; shift >= 0; shift -= 8) out_.push_back(static_cast<char>(length >> shift));
    out_ += text;
  }
  void Flush() {
    nghttp2_session_resume_data(session_, stream_);
    const uint8_t* bytes = nullptr;
    ssize_t n = 0;
    std::string all;
    while ((n = nghttp2_session_mem_send(session_, &bytes)) > 0) {
      all.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
    }
    socket_.Send(all);
  }
  v1::SessionResponse Next() {
    while (true) {
      if (in_.size() >= kPrefix) {
        uint32_t length = 0;
        for (size_t i = 1; i < kPrefix; ++i) length = length << 8 | static_cast<uint8_t>(in_[i]);
        if (in_.size() >= kPrefix + length) {
          v1::SessionResponse response;
          response.ParseFromString(in_.substr(kPrefix, length));
          in_.erase(0, kPrefix + length);
          if (response.has_error()) throw std::runtime_error(response.error().message());
          return response;
        }
      }
      std::string bytes;
      socket_.Receive(bytes);
      const auto used = nghttp2_session_mem_recv(
          session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
      if (used < 0) throw std::runtime_error("the server does not speak HTTP/2");
      if (nghttp2_session_want_write(session_) != 0) Flush();  // windows and settings
    }
  }

 private:
  ssize_t Give(uint8_t* to, size_t room) {
    if (out_.empty()) return NGHTTP2_ERR_DEFERRED;
    const size_t n = std::min(room, out_.size());
    std::memcpy(to, out_.data(), n);
    out_.erase(0, n);
    return static_cast<ssize_t>(n);
  }

  LoadSocket socket_;
  nghttp2_session* session_ = nullptr;
  int32_t stream_ = 0;
  std::string in_, out_;
};

GrpcLoad::GrpcLoad(int port, size_t connections) {
  for (size_t i = 0; i < connections; ++i) streams_.push_back(std::make_unique<Stream>(port));
}

GrpcLoad::~GrpcLoad() = default;

void GrpcLoad::ReserveAndRelease(size_t times, size_t in_flight) {
  const size_t rounds = times / (in_flight * streams_.size());
  for (size_t i = 0; i < rounds; ++i) {
    for (const auto& stream : streams_) {
      for (size_t k = 0; k < in_flight; ++k) {
        v1::SessionRequest request;
        request.mutable_reserve()->set_namespace_("bench");
        request.mutable_reserve()->set_resource("seats");
        request.mutable_reserve()->set_subject(std::to_string(subject_++ % kSubjects));
        stream->Add(request);
      }
      stream->Flush();
    }
    for (const auto& stream : streams_) {
      for (size_t k = 0; k < in_flight; ++k) {
        v1::SessionRequest request;
        request.mutable_release()->set_hold(stream->Next().reservation().hold());
        stream->Add(request);
      }
      stream->Flush();
    }
    for (const auto& stream : streams_) {
      for (size_t k = 0; k < in_flight; ++k) stream->Next();
    }
  }
}

}  // namespace weir::bench

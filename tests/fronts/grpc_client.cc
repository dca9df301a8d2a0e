#include "tests/fronts/grpc_client.h"

#include <algorithm>
#include <cstring>

#include "rules/read/parse.h"

namespace weir::testing {
namespace {

nghttp2_nv Nv(const std::string& name, const std::string& value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

std::vector<std::string> ClientCall::messages() const {
  std::vector<std::string> messages;
  std::string_view rest = data;
  while (rest.size() >= 5) {
    size_t length = 0;
    for (size_t i = 1; i < 5; ++i) length = length << 8 | static_cast<unsigned char>(rest[i]);
    EXPECT_EQ(rest[0], 0);
    EXPECT_GE(rest.size(), 5 + length);
    messages.emplace_back(rest.substr(5, length));
    rest.remove_prefix(std::min(rest.size(), 5 + length));
  }
  EXPECT_TRUE(rest.empty());
  return messages;
}

std::string Framed(std::string_view message) {
  std::string framed(5, '\0');
  for (size_t i = 1; i < 5; ++i) framed[i] = static_cast<char>(message.size() >> (32 - 8 * i));
  return framed.append(message);
}

struct GrpcClient::Callbacks {
  static GrpcClient& Self(void* user) { return *static_cast<GrpcClient*>(user); }
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user) {
    Self(user).calls_[frame->hd.stream_id].headers.emplace(
        std::string(reinterpret_cast<const char*>(name), name_size),
        std::string(reinterpret_cast<const char*>(value), value_size));
    return 0;
  }
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    ClientCall& call = Self(user).calls_[frame->hd.stream_id];
    if (frame->hd.type == NGHTTP2_HEADERS) call.header_blocks += 1;
    if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
        (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
      call.ended = true;
    }
    if (frame->hd.type == NGHTTP2_GOAWAY) {
      Self(user).goaways.push_back(frame->goaway.error_code);
      Self(user).goaway_last.push_back(frame->goaway.last_stream_id);
    }
    return 0;
  }
  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* data, size_t size,
                    void* user) {
    Self(user).calls_[stream].data.append(reinterpret_cast<const char*>(data), size);
    return 0;
  }
  static int OnClose(nghttp2_session*, int32_t stream, uint32_t error, void* user) {
    Self(user).calls_[stream].closed = true;
    Self(user).calls_[stream].error = error;
    return 0;
  }
  static ssize_t Read(nghttp2_session*, int32_t stream, uint8_t* buffer, size_t size,
                      uint32_t* flags, nghttp2_data_source*, void* user) {
    Outgoing& out = Self(user).outgoing_[stream];
    if (out.bytes.empty() && !out.end) {
      out.deferred = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    const size_t taken = std::min(size, out.bytes.size());
    std::memcpy(buffer, out.bytes.data(), taken);
    out.bytes.erase(0, taken);
    if (out.bytes.empty() && out.end) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(taken);
  }
};

GrpcClient::GrpcClient(Protocol& protocol, BareLink& link) : protocol_(protocol), link_(link) {
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Callbacks::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Callbacks::OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Callbacks::OnData);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Callbacks::OnClose);
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_peer_max_concurrent_streams(option, 1000);
  nghttp2_session_client_new2(&session_, callbacks, this, option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0);
}

GrpcClient::~GrpcClient() { nghttp2_session_del(session_); }

int32_t GrpcClient::Open(const std::string& path, const Headers& headers, bool end) {
  Headers all = {
      {":method", "POST"},          {":scheme", "http"}, {":path", path},
      {":authority", "weir"},       {"te", "trailers"},  {"content-type", "application/grpc"},
      {"user-agent", "grpc-test/1"}};
  for (const auto& header : headers) {
    const auto same = std::find_if(all.begin(), all.end(),
                                   [&](const auto& one) { return one.first == header.first; });
    if (same == all.end()) {
      all.push_back(header);
    } else if (header.second.empty()) {
      all.erase(same);
    } else {
      same->second = header.second;
    }
  }
  std::vector<nghttp2_nv> nvs;
  for (const auto& [name, value] : all) nvs.push_back(Nv(name, value));
  nghttp2_data_provider provider{};
  provider.read_callback = Callbacks::Read;
  const int32_t stream = nghttp2_submit_request(session_, nullptr, nvs.data(), nvs.size(),
                                                end ? nullptr : &provider, nullptr);
  EXPECT_GT(stream, 0);
  return stream;
}

void GrpcClient::Send(int32_t stream, std::string bytes, bool end) {
  Outgoing& out = outgoing_[stream];
  out.bytes += bytes;
  out.end = end;
  if (out.deferred) nghttp2_session_resume_data(session_, stream);
  out.deferred = false;
}

void GrpcClient::Reset(int32_t stream) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
}

std::string GrpcClient::TakeBytes() {
  std::string bytes;
  const uint8_t* data = nullptr;
  for (ssize_t n; (n = nghttp2_session_mem_send(session_, &data)) > 0;) {
    bytes.append(reinterpret_cast<const char*>(data), static_cast<size_t>(n));
  }
  return bytes;
}

void GrpcClient::Listen() {
  link_.executor().timers().Run(link_.At(now));
  std::string bytes;
  bytes.swap(link_.out());
  const ssize_t read = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  EXPECT_EQ(read, static_cast<ssize_t>(bytes.size()));
}

void GrpcClient::Exchange() {
  std::string unread;
  for (;;) {
    unread += TakeBytes();
    if (unread.empty()) link_.executor().timers().Run(link_.At(now));
    if (unread.empty() && link_.out().empty()) return;
    if (!unread.empty()) unread.erase(0, protocol_.Receive(unread, link_.At(now)));
    Listen();
  }
}

ClientCall& GrpcClient::Call(const std::string& path, std::string_view message,
                             const Headers& headers) {
  const int32_t stream = Open(path, headers);
  Send(stream, Framed(message), true);
  Exchange();
  EXPECT_TRUE(calls_[stream].closed);
  return calls_[stream];
}

std::shared_ptr<const Rulebook> RatelimitRulesOf(std::string_view yaml) {
  const ParseResult result = ParseRatelimitText(yaml, "ratelimit.yaml", {});
  EXPECT_TRUE(result.ok()) << ToString(result.errors);
  return result.rules;
}

}  // namespace weir::testing

// The bytes of each front, made without a library: the load must cost less than the server.
#include "bench/overload/flood.h"

namespace weir::bench {
namespace {

class Resp : public Wire {
 public:
  std::string name() const override { return "RESP CL.THROTTLE"; }
  std::string front() const override { return "resp"; }
  void AppendRequest(uint64_t n, std::string& out) const override {
    out.append("CL.THROTTLE key").append(std::to_string(n % 1000)).append(" 100 1000000 1\r\n");
  }
  int most_in_flight() const override { return 500; }
  void Take(std::string& in, uint64_t& next, std::vector<Answer>& answers) const override {
    constexpr int kLines = 6;  // *5 and five integers
    size_t used = 0;
    int lines = 0;
    for (size_t at = in.find('\n'); at != std::string::npos; at = in.find('\n', at + 1)) {
      if (++lines < kLines) continue;
      lines = 0;
      used = at + 1;
      answers.push_back({next++, true});
    }
    in.erase(0, used);
  }
};

class Http : public Wire {
 public:
  std::string name() const override { return "HTTP /v1/auth"; }
  std::string front() const override { return "http"; }
  void AppendRequest(uint64_t n, std::string& out) const override {
    out.append("GET /v1/auth?namespace=bench&resource=api&subject=u")
        .append(std::to_string(n % 1000))
        .append(" HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  int most_in_flight() const override { return 500; }
  // Each is counted by its first line, when its head is whole; a body is passed over.
  void Take(std::string& in, uint64_t& next, std::vector<Answer>& answers) const override {
    constexpr std::string_view kFirst = "HTTP/1.1 ";
    size_t used = 0;
    for (size_t at = in.find(kFirst); at != std::string::npos; at = in.find(kFirst, at + 1)) {
      const size_t end = in.find("\r\n\r\n", at);
      if (end == std::string::npos) break;
      answers.push_back({next++, in[at + kFirst.size()] != '5'});
      used = end + 4;
    }
    in.erase(0, used);
  }
};

void AppendFrame(char type, char flags, uint64_t stream, std::string_view payload,
                 std::string& out) {
  for (const int shift : {16, 8, 0}) out += static_cast<char>(payload.size() >> shift);
  out += type;
  out += flags;
  for (const int shift : {24, 16, 8, 0}) out += static_cast<char>(stream >> shift);
  out += payload;
}

std::string Literal(std::string_view name, std::string_view value) {
  std::string header("\0", 1);
  header += static_cast<char>(name.size());
  header.append(name) += static_cast<char>(value.size());
  return header.append(value);
}

class Grpc : public Wire {
 public:
  std::string name() const override { return "gRPC ShouldRateLimit"; }
  std::string front() const override { return "grpc"; }
  std::string Greeting() const override {
    std::string out = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    AppendFrame(4, 0, 0, "", out);
    AppendFrame(4, 1, 0, "", out);                                       // theirs is all right
    AppendFrame(8, 0, 0, std::string_view("\x7f\x00\x00\x00", 4), out);  // and so is any answer
    return out;
  }
  void AppendRequest(uint64_t n, std::string& out) const override {
    static const std::string headers =
        "\x83\x86" + Literal(":authority", "x") +
        Literal(":path", "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit") +
        Literal("content-type", "application/grpc") + Literal("te", "trailers");
    // RateLimitRequest{domain: "bench", descriptors: [{entries: [{key: "user", value: "u"}]}]}
    static const std::string message = std::string("\0\0\0\0\x14", 5) +
                                       "\x0a\x05"
                                       "bench"
                                       "\x12\x0b\x0a\x09\x0a\x04user\x12\x01u";
    AppendFrame(1, 4, 2 * n + 1, headers, out);
    AppendFrame(0, 1, 2 * n + 1, message, out);
  }
  int most_in_flight() const override { return 100; }  // of a stranger, and so at the beginning
  // An answer that decides has a message. One that does not is nothing but headers, the first of them
  // `:status`, or a reset.
  void Take(std::string& in, uint64_t&, std::vector<Answer>& answers) const override {
    size_t used = 0;
    while (in.size() - used >= 9) {
      const auto byte = [&](size_t i) { return static_cast<unsigned char>(in[used + i]); };
      const size_t length = size_t{byte(0)} << 16 | size_t{byte(1)} << 8 | byte(2);
      if (in.size() - used < 9 + length) break;
      const uint32_t stream =
          uint32_t{byte(5)} << 24 | uint32_t{byte(6)} << 16 | uint32_t{byte(7)} << 8 | byte(8);
      const bool message = byte(3) == 0 && length > 0;
      const bool no_message = byte(3) == 1 && (byte(4) & 1) != 0 && length > 0 && byte(9) == 0x88;
      const bool reset = byte(3) == 3;
      if (message || no_message || reset) answers.push_back({stream / 2, message});
      used += 9 + length;
    }
    in.erase(0, used);
  }
};

}  // namespace

std::unique_ptr<Wire> RespWire() { return std::make_unique<Resp>(); }
std::unique_ptr<Wire> HttpWire() { return std::make_unique<Http>(); }
std::unique_ptr<Wire> GrpcWire() { return std::make_unique<Grpc>(); }

}  // namespace weir::bench

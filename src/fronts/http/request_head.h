// The head of an HTTP/1.1 or 1.0 request, read strictly: where two readers could disagree on what
// was sent, it is refused (RFC 9112; request smuggling lives off such disagreements).
//
//   POST /v1/request?a=b HTTP/1.1 CRLF      method, target, version
//   Host: example.org CRLF                  headers; no folded lines, no blank before the colon
//   CRLF
//
// Everything is a view into the bytes that were given.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace weir::http {

inline constexpr size_t kMostHead = size_t{16} << 10;
inline constexpr size_t kMostHeaders = 64;

struct Header {
  std::string_view name;
  std::string_view value;  // without blanks around it
};

struct RequestHead {
  std::string_view method;
  std::string_view path;   // as sent, from its "/"
  std::string_view query;  // behind the "?", as sent
  bool is_1_0 = false;
  bool keep_alive = true;
  bool expects_continue = false;
  bool chunked = false;
  uint64_t content_length = 0;

  // Of the headers, what tells who asks (gate.h); empty: there is none.
  std::string_view authority;  // of a target like http://host/path; empty where it is a path
  std::string_view host, origin, authorization, content_type, fetch_site;
  bool through_hop = false;   // somebody has passed it on, and says so
  bool beyond_pages = false;  // has a header that no page sends without its browser asking first

  size_t count = 0;
  std::array<Header, kMostHeaders> all;
  std::span<const Header> headers() const { return std::span(all).first(count); }
};

// Why a request is not understood. Nothing behind it can be either.
struct Fault {
  int status = 0;  // 0: there is none
  std::string_view message;
  explicit operator bool() const { return status != 0; }
};

// Looks for the end of the head, line by line; goes on where it stopped when more has come.
class HeadEnd {
 public:
  // Behind the empty line; nothing if it has not come yet, or if there is a fault.
  std::optional<size_t> Find(std::string_view in, Fault& fault);
  void Reset() { line_ = 0; }

 private:
  size_t line_ = 0;  // where the first line begins that was not complete
};

// `text` is a whole head, with its empty line.
Fault ParseHead(std::string_view text, RequestHead& head);

// A letter, digit or one of !#$%&'*+-.^_`|~
bool IsTokenLetter(char c);

}  // namespace weir::http

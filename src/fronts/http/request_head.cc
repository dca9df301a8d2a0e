#include "fronts/http/request_head.h"

#include <algorithm>
#include <charconv>

#include "fronts/letters.h"

namespace weir::http {
namespace {

constexpr Fault Bad(std::string_view message) { return {400, message}; }

constexpr std::array<bool, 256> TokenLetters() {
  std::array<bool, 256> letters{};
  for (const char c : std::string_view("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    letters[static_cast<unsigned char>(c)] = true;
  }
  return letters;
}
constexpr std::array<bool, 256> kTokenLetters = TokenLetters();

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenLetter);
}

bool IsTargetLetter(char c) { return c > ' ' && c < 0x7f; }

bool IsValueLetter(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte == '\t' || (byte >= ' ' && byte != 0x7f);
}

std::string_view Trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// The path and query of "/path?query", and of "http://host/path?query", which proxies send.
Fault ReadTarget(std::string_view target, RequestHead& head) {
  if (target.empty() || !std::all_of(target.begin(), target.end(), IsTargetLetter)) {
    return Bad("the target has characters that it may not have");
  }
  if (target[0] != '/') {
    const size_t scheme = target.find("://");
    if (scheme == std::string_view::npos) return Bad("the target is not a path");
    const std::string_view name = target.substr(0, scheme);
    if (!IsWord(name, "http") && !IsWord(name, "https")) return Bad("the target is not a path");
    const size_t path = target.find_first_of("/?", scheme + 3);
    if (path == std::string_view::npos || target[path] != '/') {
      return Bad("the target has no path");
    }
    head.authority = target.substr(scheme + 3, path - scheme - 3);
    if (head.authority.empty()) return Bad("the target has no host");
    target.remove_prefix(path);
  }
  if (target.find('#') != std::string_view::npos) return Bad("the target has a fragment");
  const size_t mark = std::min(target.find('?'), target.size());
  head.path = target.substr(0, mark);
  head.query = target.substr(std::min(mark + 1, target.size()));
  return {};
}

Fault ReadVersion(std::string_view version, RequestHead& head) {
  if (version == "HTTP/1.1") return {};
  if (version == "HTTP/1.0") {
    head.is_1_0 = true;
    head.keep_alive = false;
    return {};
  }
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (version.size() == 8 && version.substr(0, 5) == "HTTP/" && digit(version[5]) &&
      version[6] == '.' && digit(version[7])) {
    return {505, "only HTTP/1.1 and HTTP/1.0 are spoken here"};
  }
  return Bad("the request line does not end with a version");
}

Fault ReadRequestLine(std::string_view line, RequestHead& head) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return Bad("the request line is not: method, blank, target, blank, version");
  }
  head.method = line.substr(0, first);
  if (!IsToken(head.method)) return Bad("the method has characters that it may not have");
  if (const Fault fault = ReadVersion(line.substr(last + 1), head)) return fault;
  return ReadTarget(line.substr(first + 1, last - first - 1), head);
}

Fault ReadHeaderLine(std::string_view line, RequestHead& head) {
  if (line[0] == ' ' || line[0] == '\t') return Bad("a header goes on in a second line");
  if (head.count == kMostHeaders) return {431, "there are more than 64 headers"};
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return Bad("a header has no colon");
  const Header header{line.substr(0, colon), Trimmed(line.substr(colon + 1))};
  if (!IsToken(header.name)) return Bad("a header's name has characters that it may not have");
  if (!std::all_of(header.value.begin(), header.value.end(), IsValueLetter)) {
    return Bad("a header has characters that it may not have");
  }
  head.all[head.count++] = header;
  return {};
}

// What the headers say about the request itself.
struct Framing {
  int hosts = 0, lengths = 0, codings = 0, origins = 0, authorizations = 0;
  bool says_close = false, says_keep_alive = false;
};

Fault ReadLength(std::string_view value, RequestHead& head) {
  const char* const end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, head.content_length);
  if (value.empty() || stop != end || error == std::errc::invalid_argument) {
    return Bad("Content-Length is not a number");
  }
  if (error != std::errc()) return {413, "the body is too large"};
  return {};
}

void ReadConnection(std::string_view value, Framing& framing) {
  while (!value.empty()) {
    const size_t comma = std::min(value.find(','), value.size());
    const std::string_view option = Trimmed(value.substr(0, comma));
    if (IsWord(option, "close")) framing.says_close = true;
    if (IsWord(option, "keep-alive")) framing.says_keep_alive = true;
    value.remove_prefix(std::min(comma + 1, value.size()));
  }
}

// "X-…": of proxies, and of programs.
void ReadOwnHeader(std::string_view name, RequestHead& head) {
  head.beyond_pages = true;
  constexpr std::string_view kForwarded = "x-forwarded-";
  if (IsWord(name.substr(0, kForwarded.size()), kForwarded) || IsWord(name, "x-real-ip")) {
    head.through_hop = true;
  }
}

Fault ReadFramingHeader(const Header& header, Framing& framing, RequestHead& head) {
  if (header.name.size() > 2 && header.name[1] == '-' && LowerLetter(header.name[0]) == 'x') {
    ReadOwnHeader(header.name, head);
    return {};
  }
  switch (header.name.size()) {
    case 3:
      if (IsWord(header.name, "via")) head.through_hop = head.beyond_pages = true;
      return {};
    case 4:
      if (!IsWord(header.name, "host")) return {};
      if (++framing.hosts > 1) return Bad("there are two hosts");
      head.host = header.value;
      return {};
    case 6:
      if (IsWord(header.name, "origin")) {
        if (++framing.origins > 1) return Bad("there are two origins");
        head.origin = header.value;
        return {};
      }
      if (!IsWord(header.name, "expect") || head.is_1_0) return {};
      if (!IsWord(header.value, "100-continue")) return {417, "this cannot be expected here"};
      head.expects_continue = true;
      return {};
    case 9:
      if (IsWord(header.name, "forwarded")) head.through_hop = head.beyond_pages = true;
      return {};
    case 10:
      if (IsWord(header.name, "connection")) ReadConnection(header.value, framing);
      return {};
    case 12:
      if (IsWord(header.name, "content-type")) head.content_type = header.value;
      return {};
    case 13:
      if (!IsWord(header.name, "authorization")) return {};
      if (++framing.authorizations > 1) return Bad("there are two Authorizations");
      head.authorization = header.value;
      head.beyond_pages = true;
      return {};
    case 14:
      if (IsWord(header.name, "sec-fetch-site")) head.fetch_site = header.value;
      if (!IsWord(header.name, "content-length")) return {};
      if (++framing.lengths > 1) return Bad("there are two Content-Lengths");
      return ReadLength(header.value, head);
    case 17:
      if (!IsWord(header.name, "transfer-encoding")) return {};
      if (++framing.codings > 1) return Bad("there are two Transfer-Encodings");
      if (!IsWord(header.value, "chunked")) return {501, "of codings only chunked is known"};
      head.chunked = true;
      return {};
    default: return {};
  }
}

Fault ReadFraming(RequestHead& head) {
  Framing framing;
  for (const Header& header : head.headers()) {
    if (const Fault fault = ReadFramingHeader(header, framing, head)) return fault;
  }
  if (framing.hosts == 0 && !head.is_1_0) return Bad("the Host header is missing");
  if (framing.codings > 0 && framing.lengths > 0) {
    return Bad("there are both Content-Length and Transfer-Encoding");
  }
  if (framing.codings > 0 && head.is_1_0) return Bad("HTTP/1.0 has no Transfer-Encoding");
  if (framing.says_keep_alive) head.keep_alive = true;
  if (framing.says_close) head.keep_alive = false;
  return {};
}

}  // namespace

bool IsTokenLetter(char c) { return kTokenLetters[static_cast<unsigned char>(c)]; }

std::optional<size_t> HeadEnd::Find(std::string_view in, Fault& fault) {
  if (!in.empty() && !IsTokenLetter(in[0])) {
    fault = Bad("this is not the beginning of a request");
    return std::nullopt;
  }
  const std::string_view head = in.substr(0, kMostHead);
  for (;;) {
    const size_t end = head.find('\n', line_);
    if (end == std::string_view::npos) break;
    if (end == 0 || head[end - 1] != '\r') {
      fault = Bad("a line does not end with CR LF");
      return std::nullopt;
    }
    if (end == line_ + 1) return end + 1;
    line_ = end + 1;
  }
  if (in.size() >= kMostHead) fault = {431, "the head is longer than 16 KiB"};
  return std::nullopt;
}

Fault ParseHead(std::string_view text, RequestHead& head) {
  head.is_1_0 = head.expects_continue = head.chunked = false;
  head.keep_alive = true;
  head.content_length = 0;
  head.count = 0;
  head.authority = head.host = head.origin = head.authorization = head.content_type =
      head.fetch_site = {};
  head.through_hop = head.beyond_pages = false;
  bool first = true;
  for (;;) {
    const size_t end = text.find("\r\n");
    if (end == std::string_view::npos) return Bad("a line does not end with CR LF");
    if (end == 0) break;
    const std::string_view line = text.substr(0, end);
    if (const Fault fault = first ? ReadRequestLine(line, head) : ReadHeaderLine(line, head)) {
      return fault;
    }
    first = false;
    text.remove_prefix(end + 2);
  }
  if (first) return Bad("the request line is missing");
  return ReadFraming(head);
}

}  // namespace weir::http

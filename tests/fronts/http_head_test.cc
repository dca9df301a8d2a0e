// The head of a request, chunks, queries and addresses: what is refused, then what is read.
#include <gtest/gtest.h>

#include "fronts/http/address.h"
#include "fronts/http/chunks.h"
#include "fronts/http/query.h"
#include "fronts/http/request_head.h"

namespace weir::http::http_head_test {
namespace {

int StatusOf(const std::string& text) {
  RequestHead head;
  return ParseHead(text, head).status;
}
int WithHeaders(const std::string& headers) {
  return StatusOf("GET / HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n");
}

TEST(HttpHead, RequestLinesAreReadStrictly) {
  const std::string host = "\r\nHost: h\r\n\r\n";
  for (const std::string bad :
       {"GET /", "GET  / HTTP/1.1 ", "GET / HTTP/1.1x", "GET / http/1.1", "G\x01T / HTTP/1.1",
        "GET /\x7f HTTP/1.1", "GET /\xc3\xa4 HTTP/1.1", "GET a HTTP/1.1", "GET /a b HTTP/1.1",
        "GET /#x HTTP/1.1", "GET ftp://h/ HTTP/1.1", "GET http://h HTTP/1.1", " / HTTP/1.1",
        "GET * HTTP/1.1", "GET /", "GET"}) {
    EXPECT_EQ(StatusOf(bad + host), 400) << bad;
  }
  EXPECT_EQ(StatusOf("GET / HTTP/2.0" + host), 505);
  EXPECT_EQ(StatusOf("GET / HTTP/1.2" + host), 505);
  EXPECT_EQ(StatusOf("\r\n"), 400);
}

TEST(HttpHead, HeadersThatCouldBeReadInTwoWaysAreRefused) {
  EXPECT_EQ(WithHeaders("A : b\r\n"), 400);
  EXPECT_EQ(WithHeaders("A: b\r\n c\r\n"), 400);
  EXPECT_EQ(WithHeaders("A\r\n"), 400);
  EXPECT_EQ(WithHeaders(": b\r\n"), 400);
  EXPECT_EQ(WithHeaders("A: b\rc\r\n"), 400);
  EXPECT_EQ(WithHeaders(std::string("A: b\0c\r\n", 8)), 400);
  EXPECT_EQ(WithHeaders("Host: other\r\n"), 400);
  EXPECT_EQ(WithHeaders("Content-Length: 1\r\nContent-Length: 1\r\n"), 400);
  EXPECT_EQ(WithHeaders("Content-Length: 1, 1\r\n"), 400);
  EXPECT_EQ(WithHeaders("Content-Length: +1\r\n"), 400);
  EXPECT_EQ(WithHeaders("Content-Length: -1\r\n"), 400);
  EXPECT_EQ(WithHeaders("Content-Length: 0x1\r\n"), 400);
  EXPECT_EQ(WithHeaders("Content-Length:\r\n"), 400);
  EXPECT_EQ(WithHeaders("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(WithHeaders("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400);
  EXPECT_EQ(WithHeaders("Transfer-Encoding: gzip\r\n"), 501);
  EXPECT_EQ(WithHeaders("Transfer-Encoding: chunked, identity\r\n"), 501);
  EXPECT_EQ(WithHeaders("Expect: miracles\r\n"), 417);
  EXPECT_EQ(WithHeaders("Content-Length: 99999999999999999999999\r\n"), 413);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  std::string many;
  for (size_t i = 0; i < kMostHeaders; ++i) many += "A: b\r\n";
  EXPECT_EQ(WithHeaders(many), 431);
}

TEST(HttpHead, IsTakenApart) {
  RequestHead head;
  const std::string text =
      "POST http://h:80/a/b?c=d?e HTTP/1.1\r\nhOST: h\r\nX:\t v w \t\r\ncontent-LENGTH: 12\r\n"
      "Expect: 100-Continue\r\nConnection: x, Close\r\n\r\n";
  ASSERT_FALSE(ParseHead(text, head));
  EXPECT_EQ(head.method, "POST");
  EXPECT_EQ(head.path, "/a/b");
  EXPECT_EQ(head.query, "c=d?e");
  EXPECT_EQ(head.headers()[1].value, "v w");
  EXPECT_EQ(head.content_length, 12u);
  EXPECT_TRUE(head.expects_continue);
  EXPECT_FALSE(head.keep_alive);
  ASSERT_FALSE(ParseHead("GET / HTTP/1.0\r\n\r\n", head));
  EXPECT_FALSE(head.keep_alive);
  ASSERT_FALSE(ParseHead("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", head));
  EXPECT_TRUE(head.keep_alive);
}

TEST(HttpHead, ItsEndIsFoundOrRefusedEarly) {
  const auto status = [](std::string_view in) {
    Fault fault;
    HeadEnd().Find(in, fault);
    return fault.status;
  };
  EXPECT_EQ(status("\x16\x03\x01"), 400);  // TLS
  EXPECT_EQ(status("GET / HTTP/1.1\nHost: h\n\n"), 400);
  EXPECT_EQ(status(std::string(kMostHead, 'a')), 431);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost"), 0);
}

// ---- Chunks ----

std::pair<std::string, int> Joined(std::string_view sent, size_t most = 1000) {
  Chunks chunks;
  Fault fault;
  for (size_t n = 0; n <= sent.size(); ++n) {  // a byte more each time
    if (chunks.Read(sent.substr(0, n), most, fault)) return {chunks.body(), 0};
    if (fault) return {"", fault.status};
  }
  return {"", -1};
}

TEST(HttpChunks, BrokenOnesAreRefused) {
  for (const std::string_view bad :
       {"x\r\n", "\r\n", "-1\r\n", "123456789\r\n", "1\r\nab\r\n", "1\nx", "1 \r\n", "0x1\r\n"}) {
    EXPECT_EQ(Joined(bad).second, 400) << bad;
  }
  EXPECT_EQ(Joined("1;" + std::string(300, 'e')).second, 400);
  EXPECT_EQ(Joined("0\r\n" + std::string(9000, 't'), 100'000).second, 400);
  EXPECT_EQ(Joined("3e8\r\n").second, 413);
  EXPECT_EQ(Joined("ffffffff\r\n").second, 413);
  std::string many;
  for (int i = 0; i < 200; ++i) many += "1\r\nx\r\n";
  EXPECT_EQ(Joined(many).second, 413);
}

TEST(HttpChunks, AreJoinedWithoutExtensionsAndTrailers) {
  EXPECT_EQ(Joined("5\r\nhello\r\n00006;a=b\r\n world\r\n0\r\nT: x\r\n\r\n").first, "hello world");
  EXPECT_EQ(Joined("0\r\n\r\n"), (std::pair<std::string, int>{"", 0}));
  EXPECT_EQ(Joined("a\r\nab").second, -1);
}

// ---- Queries ----

TEST(HttpQuery, IsDecoded) {
  Query query;
  EXPECT_FALSE(query.Parse("a=%"));
  EXPECT_FALSE(query.Parse("a=%4"));
  EXPECT_FALSE(query.Parse("%zz=1"));
  ASSERT_TRUE(query.Parse("a=b%20c+d&&%61%3D=%26&e&=f&g=h=i"));
  std::string text;
  for (const Parameter& p : query.parameters()) {
    text += "[" + std::string(p.name) + "|" + std::string(p.value) + "]";
  }
  EXPECT_EQ(text, "[a|b c d][a=|&][e|][|f][g|h=i]");
}

// ---- Addresses ----

TEST(HttpAddress, IsOneTextForEachAddress) {
  const auto text = [](std::string_view from) -> std::string {
    const std::optional<Address> address = ParseAddress(from);
    Address::Text buffer;
    return address ? std::string(address->ToText(buffer)) : "none";
  };
  EXPECT_EQ(text("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(text("192.0.2.7:8080"), "192.0.2.7");
  EXPECT_EQ(text("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(text("2001:DB8:0::1"), "2001:db8::1");
  EXPECT_EQ(text("[2001:db8::1]:443"), "2001:db8::1");
  for (const std::string_view bad :
       {"", "unknown", "1.2.3", "1.2.3.4:x", "[::1", "[::1]x", "1:", "1.2.3.4.5", "fe80::1%eth0"}) {
    EXPECT_EQ(text(bad), "none") << bad;
  }
  EXPECT_EQ(text(std::string(100, '1')), "none");
}

TEST(HttpAddress, NetworksHoldTheirAddresses) {
  const auto holds = [](std::string_view network, std::string_view address) {
    return ParseNetwork(network)->Contains(*ParseAddress(address));
  };
  EXPECT_TRUE(holds("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(holds("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(holds("10.0.0.128/25", "10.0.0.129"));
  EXPECT_FALSE(holds("10.0.0.128/25", "10.0.0.1"));
  EXPECT_TRUE(holds("10.0.0.1", "::ffff:10.0.0.1"));
  EXPECT_FALSE(holds("0.0.0.0/0", "::1"));
  EXPECT_TRUE(holds("::/0", "::1"));
  EXPECT_TRUE(holds("fd00::/8", "fdff::1"));
  for (const std::string_view bad :
       {"", "10.0.0.0/33", "10.0.0.0/", "::/129", "x/8", "1.2.3.4/-1"}) {
    EXPECT_FALSE(ParseNetwork(bad)) << bad;
  }
}

}  // namespace
}  // namespace weir::http::http_head_test

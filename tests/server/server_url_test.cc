#include "net/server_url.h"

#include <gtest/gtest.h>

namespace weir::server_url_test {
namespace {

std::string Read(const std::string& text, UrlKind kind = UrlKind::kHttp, bool tls = false) {
  const Result<ServerUrl> url = ServerUrl::Parse(text, kind, tls);
  if (!url) return "wrong";
  return (url->tls ? "tls " : "") + url->host + " " + url->port + " " + url->authority;
}

TEST(ServerUrl, IsReadInAllItsForms) {
  EXPECT_EQ(Read("127.0.0.1:8080"), "127.0.0.1 8080 127.0.0.1:8080");
  EXPECT_EQ(Read("127.0.0.1:8080", UrlKind::kHttp, true), "tls 127.0.0.1 8080 127.0.0.1:8080");
  EXPECT_EQ(Read("http://weir.example"), "weir.example 80 weir.example");
  EXPECT_EQ(Read("https://weir.example/"), "tls weir.example 443 weir.example");
  EXPECT_EQ(Read("https://[::1]:8443"), "tls ::1 8443 [::1]:8443");
  EXPECT_EQ(Read("http://[::1]"), "::1 80 [::1]");
  EXPECT_EQ(Read(":8080"), " 8080 :8080");
  EXPECT_EQ(Read("rediss://weir.example:6380", UrlKind::kRedis),
            "tls weir.example 6380 weir.example:6380");
}

TEST(ServerUrl, RefusesWhatIsNone) {
  for (const char* text :
       {"", "weir.example", "weir.example:", "weir.example:http", "x:70000", "ftp://x:1",
        "redis://x:1", "https://x/path", "http://u@x:1", "::1:80", "http://", "x:1?a"}) {
    EXPECT_EQ(Read(text), "wrong") << text;
  }
  EXPECT_EQ(Read("https://x:1", UrlKind::kRedis), "wrong");
}

}  // namespace
}  // namespace weir::server_url_test

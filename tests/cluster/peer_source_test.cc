#include "cluster/net/peer_source.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace weir::cluster::peer_source_test {
namespace {

std::string Mistake(const std::string& text) {
  const Result<PeerSource> source = PeerSource::Parse(text, "self");
  return source ? "" : source.error().message;
}

TEST(PeerSource, ReadsAListOfNames) {
  const auto source = PeerSource::Parse("a=10.0.0.1:7946, b=[fd00::1]:7946,self=host:1", "self");
  ASSERT_TRUE(source) << source.error().message;
  ASSERT_EQ(source->named.size(), 3u);
  EXPECT_EQ(source->named[0].id, "a");
  EXPECT_EQ(source->named[1].place.host, "fd00::1");
  EXPECT_EQ(source->named[2].place.port, "1");
  EXPECT_TRUE(PeerSource::Parse("", "self")->named.empty());
}

TEST(PeerSource, ReadsLinesWithComments) {
  const auto named = PeerSource::ParseLines("# all\na=10.0.0.1:1  # the first\n\n  b=x:2\r\n", "s");
  ASSERT_TRUE(named) << named.error().message;
  ASSERT_EQ(named->size(), 2u);
  EXPECT_EQ((*named)[1].id, "b");
  EXPECT_EQ((*named)[1].place.port, "2");
}

TEST(PeerSource, ReadsANameToLookUp) {
  EXPECT_EQ(PeerSource::Parse("dns:weir.example", "self")->name.port, "");
  EXPECT_EQ(PeerSource::Parse("dns:weir.example:7946", "self")->name.port, "7946");
  EXPECT_EQ(PeerSource::Parse("dns:weir.example", "self")->kind, PeerSource::Kind::kDns);
}

TEST(PeerSource, TellsWhatIsWrong) {
  EXPECT_EQ(Mistake("a=h:1,a=h:2"), "\"a\" is there twice");
  EXPECT_EQ(Mistake("self=h:1,self=h:2"), "\"self\" is there twice");
  EXPECT_EQ(Mistake("10.0.0.1:7946"), "\"10.0.0.1:7946\" is not ID=HOST:PORT");
  for (const char* text : {"a=h", "a=h:0", "a=:5", "a=h:65536", "a=h:x", "a b=h:1", "=h:1",
                           "a=::1:5", "file:/nowhere/at/all", "dns:", "dns:a:b:c"}) {
    EXPECT_NE(Mistake(text), "") << text;
  }
}

TEST(SocketAddress, AnIpV4AddressIsWrittenAsSuchInBothFamilies) {
  for (const int family : {AF_INET, AF_INET6}) {
    SocketAddress address;
    ASSERT_TRUE(SocketAddress::Parse("127.0.0.1:7946", family, address));
    EXPECT_EQ(address.family(), family);
    EXPECT_EQ(address.ToString(), "127.0.0.1:7946");
  }
  SocketAddress address;
  ASSERT_TRUE(SocketAddress::Parse("[::1]:80", AF_INET6, address));
  EXPECT_EQ(address.ToString(), "[::1]:80");
  EXPECT_FALSE(SocketAddress::Parse("[::1]:80", AF_INET, address));
  EXPECT_FALSE(SocketAddress::Parse("localhost:80", AF_INET, address));
  EXPECT_FALSE(SocketAddress::Parse("", AF_INET, address));
}

TEST(SocketAddress, OneAddressOfAMachineIsNotAllOfThem) {
  SocketAddress one, any, both;
  ASSERT_TRUE(SocketAddress::Parse("127.0.0.2:7946", AF_INET, one));
  EXPECT_EQ(OwnAddresses(one), std::vector<std::string>{"127.0.0.2:7946"});
  EXPECT_EQ(one.reaches(), AF_INET);
  ASSERT_TRUE(SocketAddress::Parse("0.0.0.0:7946", AF_INET, any));
  ASSERT_TRUE(SocketAddress::Parse("[::]:7946", AF_INET6, both));
  for (const SocketAddress& own : {any, both}) {
    const std::vector<std::string> all = OwnAddresses(own);
    EXPECT_NE(std::find(all.begin(), all.end(), "127.0.0.1:7946"), all.end());
  }
  EXPECT_EQ(any.reaches(), AF_INET);
  EXPECT_EQ(both.reaches(), AF_UNSPEC);
  ASSERT_TRUE(SocketAddress::Parse("[fd00::1]:7946", AF_INET6, one));
  EXPECT_EQ(one.reaches(), AF_INET6) << "from one of its addresses no IPv4";
}

}  // namespace
}  // namespace weir::cluster::peer_source_test

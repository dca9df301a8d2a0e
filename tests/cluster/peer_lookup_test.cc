#include "cluster/net/peer_lookup.h"

#include <gtest/gtest.h>

namespace weir::cluster::peer_lookup_test {
namespace {

using Hosts = std::vector<std::string>;

SocketAddress At(const std::string& text) {
  SocketAddress address;
  EXPECT_TRUE(SocketAddress::Parse(text, AF_INET, address));
  return address;
}

// With names that come to what the test says.
class Lookup : public ::testing::Test {
 protected:
  // "(nothing)", or "ID=ADDRESS " for each.
  std::string Look(const std::string& peers) {
    const auto members = lookup_.Look(*PeerSource::Parse(peers, "self"), trouble_);
    if (!members) return "(nothing)";
    std::string text;
    for (const Member& member : *members) text += member.id + "=" + member.address + " ";
    return text;
  }

  std::map<std::string, Hosts> names_;
  std::string trouble_;
  PeerLookup lookup_{"self", At("10.0.0.1:7946"), [this](const HostPort& name, int family) {
                       EXPECT_EQ(family, AF_INET);
                       Hosts all = names_[name.host];
                       for (std::string& one : all) one += ":" + name.port;
                       return all;
                     }};
};

TEST_F(Lookup, ANameIsItsAddressesButThisNodesOwn) {
  names_["weir"] = {"10.0.0.1", "10.0.0.2", "127.0.0.1"};
  EXPECT_EQ(Look("dns:weir"), "=10.0.0.2:7946 =127.0.0.1:7946 ")
      << "this machine's others are other nodes'";
  EXPECT_EQ(Look("dns:weir:1"), "=10.0.0.1:1 =10.0.0.2:1 =127.0.0.1:1 ");
  names_["weir"] = {"10.0.0.1"};
  EXPECT_EQ(Look("dns:weir"), "") << "it is alone";
  EXPECT_EQ(trouble_, "");
}

TEST_F(Lookup, ANameThatWasNeverFoundIsNotOneWithoutAddresses) {
  EXPECT_EQ(Look("dns:weir"), "(nothing)");
  EXPECT_EQ(trouble_, "\"weir\" cannot be found");
  names_["weir"] = {"10.0.0.2"};
  EXPECT_EQ(Look("dns:weir"), "=10.0.0.2:7946 ");
  EXPECT_EQ(trouble_, "");
  names_.clear();
  EXPECT_EQ(Look("dns:weir"), "=10.0.0.2:7946 ") << "it stays as it was";
  EXPECT_EQ(trouble_, "\"weir\" cannot be found");
}

TEST_F(Lookup, NamedPeersAreAllThereAndKeepTheAddressThatTheyHad) {
  names_["one"] = {"10.0.0.2", "10.0.0.3"};
  const std::string peers = "a=one:1,b=two:2,c=three:3,self=four:4";
  EXPECT_EQ(Look(peers), "a=10.0.0.2:1 b= c= ");
  EXPECT_EQ(trouble_, "\"two\" (b), \"three\" (c) cannot be found");
  names_["one"] = {"10.0.0.1", "10.0.0.2"};
  names_["two"] = names_["three"] = {"10.0.0.4"};
  EXPECT_EQ(Look(peers), "a=10.0.0.2:1 b=10.0.0.4:2 c=10.0.0.4:3 ");
  EXPECT_EQ(trouble_, "");
  names_["one"] = {"10.0.0.5"};
  EXPECT_EQ(Look(peers), "a=10.0.0.5:1 b=10.0.0.4:2 c=10.0.0.4:3 ");
  names_["four"] = {"10.0.0.6"};
  EXPECT_EQ(Look(peers), "a=10.0.0.5:1 b=10.0.0.4:2 c=10.0.0.4:3 self=10.0.0.6:4 ")
      << "where another may run under its name";
}

}  // namespace
}  // namespace weir::cluster::peer_lookup_test

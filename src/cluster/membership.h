// Who is there: the nodes that were named or that made themselves known, and whether they live.
//
// A peer lives as long as it is heard from. One that was not for `ping_after` is pinged each
// `ping_every`, and is dead after `misses` of them: while there is talk nobody is pinged. The dead, and
// those who were never heard, are greeted: soon at first, then each `greet_every`.
//
//   named     members are those on the list, and who else has the key is a stranger
//   open      members are whoever has the key; the list has only addresses to greet
//
// Pure: time is an argument, and nothing is sent from here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/peer.h"
#include "weir/error.h"

namespace weir::cluster {

// As the list has it; in an open cluster the id is not known.
struct Member {
  std::string id;
  std::string address;
  bool operator==(const Member&) const = default;
};

struct MembershipOptions {
  bool open = false;
  Duration ping_after = std::chrono::seconds(1);
  Duration ping_every = std::chrono::milliseconds(500);
  int misses = 5;
  Duration first_greetings = std::chrono::milliseconds(200);
  Duration greet_every = std::chrono::seconds(3);
  // Of an open cluster: who is dead for so long, and not on the list, is forgotten.
  Duration forget_after = std::chrono::minutes(10);
  size_t most_peers = 1024;
};

class Membership {
 public:
  Membership(const std::string& self, const MembershipOptions& options)
      : self_(self), options_(options) {}

  // The list, from now on; this node itself is skipped. An error changes nothing.
  std::optional<Error> SetMembers(const std::vector<Member>& members, Instant now);

  Peer* Find(uint32_t number);
  Peer* FindAt(const std::string& address);
  // Whoever has the key. Null if there is no room, or if the cluster is a named one.
  Peer* Learn(const std::string& id, const std::string& address, Instant now);

  // Whether those who know only the list find it: it is where the list has it.
  bool IsFoundByList(const Peer& peer) const;
  // Of an open cluster: this node itself answers there.
  void MetSelfAt(const std::string& address);
  // Addresses of the list where nobody was met for so long, and since when; and whether it is one.
  std::vector<std::pair<std::string, Instant>> Silent(Duration patience, Instant now) const;
  bool IsSilent(const std::string& address) const;
  bool IsAliveAt(const std::string& address) const;
  // It has told its name from there. A node may have several addresses on the list, as of both families.
  void MetAt(const std::string& address, const Peer& peer);
  // An authentic datagram for this node came from it.
  enum class News { kNone, kReturned, kNewLife };
  News Heard(Peer& peer, uint32_t incarnation, Instant now);
  // It has said so, or was not heard.
  void Died(Peer& peer, Instant now) const;

  // Who is to be called now.
  struct Calls {
    std::vector<Peer*> pings;
    std::vector<Peer*> quiet;            // to be greeted
    std::vector<std::string> greetings;  // addresses, of whomever
    std::vector<const Peer*> died;       // just now
  };
  Calls Due(Instant now);
  Instant NextCall() const;

  std::vector<uint32_t> Alive() const;
  const std::map<uint32_t, Peer>& peers() const { return peers_; }
  template <typename Do>
  void ForEach(Do todo) {
    for (auto& [number, peer] : peers_) todo(peer);
  }
  bool alone() const { return peers_.empty() && seeds_.empty(); }
  // Whether everybody lives who is known.
  bool complete() const;

 private:
  struct Seed {
    std::string address;
    Instant next_call{};
    Duration patience{};
    Instant since{};   // it is on the list
    uint32_t met = 0;  // who was last met there
  };

  std::optional<Error> Check(const std::vector<Member>& members) const;
  void SetNamed(const std::vector<Member>& members, Instant now);
  void SetSeeds(const std::vector<Member>& members, Instant now);
  bool IsAlive(const Seed& seed) const;
  bool IsKnown(const Seed& seed) const;
  Duration QuietOf(const Peer& peer) const;
  void CallAlive(Peer& peer, Instant now, Calls& calls);
  bool IsGone(const Peer& peer, Instant now) const;
  Duration NextPatience(Duration patience) const {
    return std::min(options_.greet_every, 2 * patience);
  }

  const std::string self_;
  const MembershipOptions options_;
  std::map<uint32_t, Peer> peers_;  // by number
  std::vector<Seed> seeds_;         // of an open cluster
};

}  // namespace weir::cluster

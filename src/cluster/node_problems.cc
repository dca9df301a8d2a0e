// What an operator should mend: told once a minute at most, and listed while it lasts.
#include <algorithm>

#include "cluster/node.h"

namespace weir::cluster {
namespace {

constexpr Duration kWarnEvery = std::chrono::minutes(1);
// What is wrong shows itself again before that: the dead are greeted every three seconds.
constexpr Duration kTroubleLasts = std::chrono::seconds(15);
constexpr Duration kNeverHeardAfter = std::chrono::seconds(5);
constexpr char kNotLookedUp[] =
    "what --peers names could not be looked up: this node knows of nobody. Is the name right, and "
    "does the "
    "resolver of this machine know it?";
// Who has another key is not known by name. From where it comes, anybody may write: so addresses that are on no list are
// few.
constexpr size_t kMostForeign = 8, kMostForeignOfList = 64;

}  // namespace

std::string Node::KeyText(const Peer& peer) const {
  return Described(peer) +
         " seals with another key: no datagram of it can be opened here. Compare "
         "--cluster-key-file on both, and start again the one that has the wrong one";
}

std::string Node::VersionText(const Peer& peer) const {
  return Described(peer) +
         " speaks another version of the protocol: run the same version of Weir on all nodes";
}

std::string Node::NamesText(const Peer& peer) const {
  return Described(peer) +
         " names the keys of limits by another secret, so the two do not count together: give both "
         "the same `names:` line in --cluster-key-file, and start again the one that has changed";
}

std::string Node::NamesakeText(const Peer& peer) const {
  return "another node calls itself \"" + peer.id + "\", at " + peer.namesake_at + ", while " +
         Described(peer) + " lives: it was refused. Give it a name of its own (--node)";
}

std::string Node::OwnNamesakeText() const {
  return "another node calls itself \"" + options_.id + "\"" +
         (namesake_.address.empty() ? "" : ", at " + namesake_.address) +
         ": most members take this one for it. Give the other a name of its own (--node)";
}

std::string Node::DeadText(const Peer& peer) const {
  const bool never = peer.incarnation == 0;
  return Described(peer) + (never ? " was never heard" : " is dead: it does not answer") +
         ". Is it running, is its address right in --peers, and does its port pass UDP both ways? "
         "If "
         "it is gone for good, take it off --peers";
}

std::string Node::StrangerText() const {
  return stranger_ +
         " has the key, and is not on the list: add it to --peers of this node, or stop it";
}

std::string Node::ForeignText(const std::string& address) {
  return "somebody at " + address +
         " seals with another key: nothing of it can be opened here. If it is a node of this "
         "cluster, "
         "compare --cluster-key-file on both, and start again the one that has the wrong one; if "
         "not, "
         "keep it away from this port";
}

std::string Node::SilentText(const std::string& address) {
  return "nobody answers at " + address +
         ", an address of --peers. Does a node of this cluster run there, with the same key, and "
         "does "
         "its port pass UDP both ways? If it is gone for good, take the address out of the name";
}

void Node::Trouble(Peer::Trouble& trouble, const std::string& message, Instant now) {
  if (!trouble.now(now, kTroubleLasts)) trouble.since = now;
  trouble.seen = now;
  if (After(trouble.warned, kWarnEvery) > now) return;
  trouble.warned = now;
  if (options_.trouble) options_.trouble(message);
}

void Node::NoteRejection(Rejection reason, const Opened& opened, const std::string& from,
                         Instant now) {
  Peer* peer = opened.peer;
  if (reason == Rejection::kUnreadable && opened.head.for_anybody) {
    // A greeting is for anybody: who cannot read it has another key. Where it comes from, anybody may
    // write: so it counts only while that peer is not heard.
    if (peer == nullptr) peer = members_.FindAt(from);
    if (peer != nullptr && !peer->alive) Trouble(peer->key, KeyText(*peer), now);
    const bool greeting = opened.bytes == GreetingBytes() + kSealBytes;
    if (peer == nullptr && options_.membership.open && greeting) NoteForeignKey(from, now);
  } else if (reason == Rejection::kVersion && peer != nullptr) {
    Trouble(peer->version, VersionText(*peer), now);
  } else if (reason == Rejection::kStranger && !opened.from.id.empty()) {
    if (!strangers_.now(now, kTroubleLasts)) {  // of several, one after the other
      stranger_ = "\"" + std::string(opened.from.id) + "\" at " + from;
      stranger_number_ = opened.head.sender.node;
    }
    Trouble(strangers_, StrangerText(), now);
  }
}

void Node::NoteForeignKey(const std::string& from, Instant now) {
  std::erase_if(foreign_, [&](const auto& one) { return !one.second.now(now, kTroubleLasts); });
  const size_t most = members_.IsSilent(from) ? kMostForeignOfList : kMostForeign;
  if (!foreign_.contains(from) && foreign_.size() >= most) return;
  Trouble(foreign_[from], ForeignText(from), now);
}

void Node::NoteBadEnvelope(Peer& peer, Instant now) {
  Trouble(peer.version, VersionText(peer), now);
}

void Node::CompareNames(Peer& peer, const Identity& from, Instant now) {
  if (from.names != 0) peer.names_told = from.names;
  if (NamesDiffer(peer)) Trouble(peer.names, NamesText(peer), now);
}

bool Node::NamesDiffer(const Peer& peer) const {
  return peer.names_told != 0 && options_.names != 0 && peer.names_told != options_.names;
}

std::vector<Problem> Node::Problems(Instant now) const {
  std::vector<Problem> all;
  const auto add = [&](const Peer::Trouble& trouble, const char* code, const std::string& about,
                       const auto& text) {
    const bool there = trouble.now(now, kTroubleLasts);
    if (there) all.push_back({code, about, text(), trouble.since});
    return there;
  };
  if (!listed_ && After(started_, kNeverHeardAfter) <= now) {
    all.push_back({"no_peers", "", kNotLookedUp, started_});
  }
  add(namesakes_, "name_taken", "", [&] { return OwnNamesakeText(); });
  add(strangers_, "stranger", "", [&] { return StrangerText(); });
  for (const auto& [address, trouble] : foreign_) {
    if (members_.IsAliveAt(address)) continue;  // its key was put right
    const auto text = [&at = address] { return ForeignText(at); };
    add(trouble, "wrong_cluster_key", address, text);
  }
  for (const auto& [address, since] : members_.Silent(kNeverHeardAfter, now)) {
    const auto foreign = foreign_.find(address);
    if (foreign != foreign_.end() && foreign->second.now(now, kTroubleLasts)) continue;
    all.push_back({"peer_dead", address, SilentText(address), since});
  }
  for (const auto& entry : members_.peers()) {
    const Peer& peer = entry.second;
    const bool key =
        !peer.alive && add(peer.key, "wrong_cluster_key", peer.id, [&] { return KeyText(peer); });
    const bool version =
        add(peer.version, "peer_version", peer.id, [&] { return VersionText(peer); });
    if (peer.alive && NamesDiffer(peer)) {
      all.push_back({"names_differ", peer.id, NamesText(peer), peer.names.since});
    }
    add(peer.namesake, "name_taken", peer.id, [&] { return NamesakeText(peer); });
    const bool never = peer.incarnation == 0;
    if (peer.alive || key || version) continue;
    if (never && After(peer.quiet_since, kNeverHeardAfter) > now) continue;
    all.push_back({"peer_dead", peer.id, DeadText(peer), peer.quiet_since});
  }
  return all;
}

}  // namespace weir::cluster

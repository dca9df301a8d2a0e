#include "cluster/membership.h"

#include <algorithm>

#include "cluster/messages.h"

namespace weir::cluster {

std::optional<Error> Membership::Check(const std::vector<Member>& members) const {
  std::map<uint32_t, std::string> numbers = {{NodeNumber(self_), self_}};
  const auto wrong = [](std::string why) {
    return Error{Code::kBadRequest, std::move(why), "peers"};
  };
  bool self_seen = false;
  for (const Member& member : members) {
    if (member.id.empty()) continue;
    if (const std::string problem = IdProblem(member.id); !problem.empty()) return wrong(problem);
    if (member.id == self_ && !std::exchange(self_seen, true)) continue;
    const auto [other, is_new] = numbers.try_emplace(NodeNumber(member.id), member.id);
    if (is_new) continue;
    if (other->second == member.id) return wrong("\"" + member.id + "\" is there twice");
    return wrong("\"" + other->second + "\" and \"" + member.id +
                 "\" come to the same number by chance: give one of them another name");
  }
  return std::nullopt;
}

std::optional<Error> Membership::SetMembers(const std::vector<Member>& members, Instant now) {
  if (std::optional<Error> error = Check(members)) return error;
  SetSeeds(members, now);
  SetNamed(members, now);
  return std::nullopt;
}

void Membership::SetNamed(const std::vector<Member>& members, Instant now) {
  for (auto& [number, peer] : peers_) peer.listed = false;
  for (const Member& member : members) {
    if (member.id.empty() || member.id == self_) continue;
    Peer& peer = peers_[NodeNumber(member.id)];
    const bool is_new = peer.number == 0;
    peer.listed = true;
    if (is_new) {
      peer.id = member.id;
      peer.number = NodeNumber(member.id);
      peer.quiet_since = now;
    }
    if (peer.listed_at == member.address && !is_new) continue;
    peer.address = peer.listed_at = member.address;
    if (peer.alive) continue;
    peer.next_call = now;
    peer.patience = options_.first_greetings;
  }
  if (!options_.open) std::erase_if(peers_, [](const auto& one) { return !one.second.listed; });
}

void Membership::SetSeeds(const std::vector<Member>& members, Instant now) {
  std::vector<Seed> seeds;
  for (const Member& member : members) {
    if (!member.id.empty()) continue;
    const auto old = std::find_if(seeds_.begin(), seeds_.end(),
                                  [&](const Seed& seed) { return seed.address == member.address; });
    seeds.push_back(old != seeds_.end() ? *old
                                        : Seed{member.address, now, options_.first_greetings, now});
  }
  seeds_ = std::move(seeds);
}

Peer* Membership::Find(uint32_t number) {
  const auto found = peers_.find(number);
  return found == peers_.end() ? nullptr : &found->second;
}

Peer* Membership::FindAt(const std::string& address) {
  for (auto& [number, peer] : peers_) {
    if (peer.address == address) return &peer;
  }
  return nullptr;
}

Peer* Membership::Learn(const std::string& id, const std::string& address, Instant now) {
  if (!options_.open || peers_.size() >= options_.most_peers || id == self_) return nullptr;
  const auto [place, is_new] = peers_.try_emplace(NodeNumber(id));
  if (!is_new) return nullptr;
  place->second.id = id;
  place->second.number = NodeNumber(id);
  place->second.address = address;
  place->second.next_call = now;
  place->second.patience = options_.first_greetings;
  return &place->second;
}

bool Membership::IsFoundByList(const Peer& peer) const {
  if (peer.listed) return peer.address == peer.listed_at;
  return std::any_of(seeds_.begin(), seeds_.end(),
                     [&](const Seed& seed) { return seed.address == peer.address; });
}

void Membership::MetSelfAt(const std::string& address) {
  for (Seed& seed : seeds_) {
    if (seed.address == address) seed.met = NodeNumber(self_);
  }
}

// Whoever is dead is known by his name.
bool Membership::IsKnown(const Seed& seed) const {
  return seed.met == NodeNumber(self_) ||
         std::any_of(peers_.begin(), peers_.end(), [&](const auto& one) {
           return one.second.address == seed.address || one.first == seed.met;
         });
}

std::vector<std::pair<std::string, Instant>> Membership::Silent(Duration patience,
                                                                Instant now) const {
  std::vector<std::pair<std::string, Instant>> silent;
  for (const Seed& seed : seeds_) {
    if (!IsKnown(seed) && After(seed.since, patience) <= now) {
      silent.emplace_back(seed.address, seed.since);
    }
  }
  return silent;
}

bool Membership::IsSilent(const std::string& address) const {
  return std::any_of(seeds_.begin(), seeds_.end(),
                     [&](const Seed& seed) { return seed.address == address && !IsKnown(seed); });
}

bool Membership::IsAliveAt(const std::string& address) const {
  return std::any_of(peers_.begin(), peers_.end(), [&](const auto& one) {
    return one.second.alive && one.second.address == address;
  });
}

void Membership::MetAt(const std::string& address, const Peer& peer) {
  for (Seed& seed : seeds_) {
    if (seed.address == address) seed.met = peer.number;
  }
}

Membership::News Membership::Heard(Peer& peer, uint32_t incarnation, Instant now) {
  const bool new_life = incarnation != peer.incarnation;
  const bool returned = !peer.alive;
  peer.incarnation = incarnation;
  peer.alive = true;
  peer.left = false;
  peer.last_heard = now;
  peer.missed = 0;
  if (returned || new_life) peer.next_call = After(now, QuietOf(peer));
  if (new_life) return News::kNewLife;
  return returned ? News::kReturned : News::kNone;
}

void Membership::Died(Peer& peer, Instant now) const {
  peer.alive = false;
  peer.accepts_me = false;
  if (peer.listed) peer.address = peer.listed_at;
  peer.quiet_since = now;
  peer.round_trip = kUnknown;
  peer.patience = options_.greet_every;
  peer.next_call = After(now, peer.patience);
}

// One of two is the first to ping: the other then has heard from it.
Duration Membership::QuietOf(const Peer& peer) const {
  const Duration later = NodeNumber(self_) > peer.number ? options_.ping_after / 4 : Duration(0);
  return options_.ping_after + later;
}

void Membership::CallAlive(Peer& peer, Instant now, Calls& calls) {
  const Instant quiet = After(peer.last_heard, QuietOf(peer));
  if (quiet > now) {
    peer.next_call = quiet;
    return;
  }
  if (peer.missed >= options_.misses) {
    Died(peer, now);
    calls.died.push_back(&peer);
    return;
  }
  peer.missed += 1;
  peer.next_call = After(now, options_.ping_every);
  calls.pings.push_back(&peer);
}

bool Membership::IsAlive(const Seed& seed) const {
  if (seed.met == NodeNumber(self_)) return true;
  return std::any_of(peers_.begin(), peers_.end(), [&](const auto& one) {
    const Peer& peer = one.second;
    return peer.alive && (peer.address == seed.address || peer.number == seed.met);
  });
}

bool Membership::IsGone(const Peer& peer, Instant now) const {
  return !peer.listed && !peer.alive && After(peer.last_heard, options_.forget_after) <= now;
}

Membership::Calls Membership::Due(Instant now) {
  Calls calls;
  std::erase_if(peers_, [&](const auto& one) { return IsGone(one.second, now); });
  for (auto& [number, peer] : peers_) {
    if (peer.next_call > now) continue;
    if (peer.alive) {
      CallAlive(peer, now, calls);
    } else {
      calls.quiet.push_back(&peer);
      peer.next_call = After(now, peer.patience);
      peer.patience = NextPatience(peer.patience);
    }
  }
  for (Seed& seed : seeds_) {
    if (seed.next_call > now) continue;
    if (!IsAlive(seed)) calls.greetings.push_back(seed.address);
    seed.next_call = After(now, seed.patience);
    seed.patience = NextPatience(seed.patience);
  }
  return calls;
}

Instant Membership::NextCall() const {
  Instant next = kEndOfTime;
  for (const auto& [number, peer] : peers_) next = std::min(next, peer.next_call);
  for (const Seed& seed : seeds_) next = std::min(next, seed.next_call);
  return next;
}

std::vector<uint32_t> Membership::Alive() const {
  std::vector<uint32_t> alive;
  for (const auto& [number, peer] : peers_) {
    if (peer.alive) alive.push_back(number);
  }
  return alive;
}

bool Membership::complete() const {
  const bool all =
      std::all_of(peers_.begin(), peers_.end(), [](const auto& one) { return one.second.alive; });
  return all &&
         std::all_of(seeds_.begin(), seeds_.end(), [&](const Seed& seed) { return IsAlive(seed); });
}

}  // namespace weir::cluster

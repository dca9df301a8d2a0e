#include "lab/chaos/names/names.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/random.h"
#include "cluster/node.h"
#include "lab/chaos/node_clock.h"
#include "lab/chaos/progress.h"
#include "lab/chaos/scenario.h"
#include "replication/debt_replica.h"

namespace weir::chaos {
namespace {

using namespace std::chrono_literals;
using cluster::Member;
using cluster::Node;
using cluster::NodeNumber;
using cluster::PeerStatus;

constexpr ReplicatedBucket kLimit{.capacity = 1000, .limit = 1, .per = std::chrono::hours(1)};
constexpr Key kKey{1, 2};
constexpr Duration kFault = 20s;  // from one fault to the next, at most
constexpr Duration kQuiet = 60s;
// Until all know of a use; what is lost is told again after twice a round of heartbeats.
constexpr Duration kTold = 30s, kToldAgain = 90s;
constexpr Duration kUntilRefused = 3s;
constexpr Duration kRivalSeen = 6s;  // so long ago, at most, a rival that has ended was there

class World {
 public:
  World(uint64_t seed, const NamesSubject& subject, std::vector<std::string>* trace)
      : random_(seed), subject_(subject), trace_(trace) {
    names_ = 2 + random_.Below(4);
    for (size_t i = 0; i < names_; ++i) ids_.push_back(fmt::format("n{}", i));
    latency_ = Duration(100'000 + random_.Below(20'000'000));
    loss_ = random_.Below(3) == 0 ? 0.05 : 0;
    doubling_ = random_.Below(3) == 0 ? 0.1 : 0;
    open_ = random_.Below(4) == 0;
  }

  NamesOutcome Go() {
    for (const std::string& id : ids_) Start(id, id, NextLife(id));
    RunFor(5s);
    const uint64_t faults = 3 + random_.Below(8);
    for (uint64_t i = 0; i < faults && outcome_.violation.empty(); ++i) {
      // Some come on top of one another.
      if (random_.Below(3) == 0) {
        RunFor(Duration(random_.Below(4'000'000'000)));
      } else {
        RunFor(kFault);
        EndFaults();
        RunFor(random_.Below(2) == 0 ? 20s : 1s);
      }
      Fault();
    }
    EndFaults();
    RunFor(kQuiet);
    SendOneHome();
    if (outcome_.violation.empty()) CheckSettled();
    outcome_.simulated = now_ - kStart;
    return outcome_;
  }

 private:
  struct Process : cluster::Transport {
    Process(World& in, std::string at) : world(in), address(std::move(at)) {}
    void Send(const std::string& to, std::string_view datagram) override {
      world.Carry(*this, to, std::string(datagram));
    }
    void Fetch(const std::string&, std::string) override { fetch_failed = true; }  // all is small

    World& world;
    const std::string address;
    std::string id;
    uint32_t life = 0;
    Instant started{};
    bool paused = false, fetch_failed = false;
    std::vector<std::string> held, held_from;
    std::unique_ptr<DebtReplica> replica;
    std::unique_ptr<Node> node;
  };
  struct Flying {
    Instant at;
    std::string from, to, bytes;
  };
  struct Restart {
    Instant at;
    std::string id;
    uint32_t life = 0;
  };
  struct Clean {  // a second one that must be refused
    Instant until;
    std::string address, holder;
    uint32_t life = 0;
  };

  void Tell(const std::string& line) {
    if (trace_ != nullptr) trace_->push_back(fmt::format("{:>12}  {}", Shown(now_), line));
  }
  void Fail(const std::string& invariant, const std::string& what) {
    if (outcome_.violation.empty()) {
      outcome_.violation = fmt::format("after {}: {}: {}", Shown(now_), invariant, what);
    }
  }

  // Mostly greater than any before; some clocks were set back.
  uint32_t NextLife(const std::string& id) {
    const uint32_t last = lives_[id];
    const bool back = last > 100 && random_.Below(4) == 0;
    const uint32_t life = back ? last - 1 - static_cast<uint32_t>(random_.Below(50)) * 2
                               : last + 1000 + static_cast<uint32_t>(random_.Below(1000)) * 2;
    lives_[id] = std::max(last, life);
    return used_.insert({id, life}).second ? life : NextLife(id);
  }

  void Start(const std::string& address, const std::string& id, uint32_t life) {
    auto& process = processes_[address];
    process = std::make_unique<Process>(*this, address);
    process->id = id;
    process->life = life;
    process->started = now_;
    Begin(*process);
    Tell(fmt::format("{} starts at {} as life {}", id, address, life));
  }
  void Begin(Process& process) {
    cluster::NodeOptions options;
    options.id = process.id;
    options.incarnation = process.life;
    options.membership.open = open_;
    options.birthmark = 1 + random_.Below(UINT64_MAX - 1);
    options.first_sequence = 1 + random_.Below(uint64_t{1} << 47);
    options.note = [this, &process](const std::string& text) {
      Tell(fmt::format("  {} at {}: {}", process.id, process.address, text));
    };
    process.node = nullptr;
    process.replica = std::make_unique<DebtReplica>(Origin{NodeNumber(process.id), process.life},
                                                    DebtOptions{}, now_);
    process.node = std::make_unique<Node>(options, key_, *process.replica, process, now_);
    std::vector<Member> members;
    for (const std::string& id : ids_) {
      if (!open_ || id != process.address) members.push_back({open_ ? "" : id, id});
    }
    process.node->SetMembers(members, now_);
  }
  void Kill(const std::string& address) {
    Process& process = *processes_.at(address);
    seen_[process.id] = now_;
    Tell(fmt::format("{} at {} is killed", process.id, address));
    processes_.erase(address);
  }
  bool Runs(const std::string& address) const { return processes_.contains(address); }
  // Two that run where no list has them, and have never met, are introduced by a third. If there is none, the
  // operator starts one where the list has it.
  void SendOneHome() {
    const auto at_home = [&](const auto& one) { return IsHome(one.first); };
    if (processes_.empty() || std::any_of(processes_.begin(), processes_.end(), at_home)) return;
    const std::string address = processes_.begin()->first, id = processes_.begin()->second->id;
    Kill(address);
    Start(id, id, NextLife(id));
    RunFor(kQuiet);
  }
  // Where the node of that name runs, if it does: where the list has it, or else.
  std::optional<std::string> SomeOf(const std::string& id) const {
    for (const std::string& address : {id, "s" + id}) {
      if (Runs(address)) return address;
    }
    return std::nullopt;
  }

  // ---- The network ----

  void Carry(const Process& from, const std::string& to, std::string datagram) {
    if (!subject_.challenges && now_ - from.started > 2s && IsHome(to) && Runs(to) &&
        cluster::ReadSealedHead(datagram)->for_anybody) {
      return;
    }
    if (loss_ > 0 && random_.Unit() < loss_) return;
    const auto arrives = [&] {
      return now_ + latency_ + Duration(random_.Below(static_cast<uint64_t>(latency_.count())));
    };
    if (doubling_ > 0 && random_.Unit() < doubling_) {
      flying_.push_back({arrives(), from.address, to, datagram});
    }
    flying_.push_back({arrives(), from.address, to, std::move(datagram)});
  }
  bool IsHome(const std::string& address) const {
    return std::find(ids_.begin(), ids_.end(), address) != ids_.end();
  }
  bool Passes(const std::string& from, const std::string& to) const {
    return !cut_ || Side(from) == Side(to);
  }
  bool Side(const std::string& address) const {
    const auto found = side_.find(address);
    return found != side_.end() && found->second;
  }
  void Deliver() {
    std::vector<Flying> arrived;
    std::erase_if(flying_, [&](Flying& one) {
      if (one.at > now_) return false;
      arrived.push_back(std::move(one));
      return true;
    });
    for (Flying& one : arrived) {
      const auto found = processes_.find(one.to);
      if (found == processes_.end() || !Passes(one.from, one.to)) continue;
      Process& process = *found->second;
      if (process.paused) {
        process.held.push_back(std::move(one.bytes));
        process.held_from.push_back(one.from);
      } else {
        process.node->Receive(one.bytes, one.from, now_);
      }
    }
  }

  // ---- Time ----

  Instant NextTick(const Process& process) const {
    const bool never_done = !subject_.rests && now_ - process.started > 10s;
    return never_done ? now_ : process.node->NextTick();
  }
  void RunFor(Duration d) {
    const Instant end = now_ + d;
    while (outcome_.violation.empty()) {
      Instant next = end;
      for (const auto& [address, process] : processes_) {
        if (!process->paused) next = std::min(next, NextTick(*process));
      }
      for (const Flying& one : flying_) next = std::min(next, one.at);
      for (const Restart& one : restarts_) next = std::min(next, one.at);
      if (next >= end) break;
      now_ = std::max(now_, next);
      CheckProgress();
      Step();
    }
    now_ = std::max(now_, end);
  }
  void CheckProgress() {
    if (progress_.Step(now_)) return;
    std::string due;
    for (const auto& [address, process] : processes_) {
      if (process->paused || NextTick(*process) > now_) continue;
      due += fmt::format(" {} at {} is due.", process->id, address);
    }
    Fail("progress", fmt::format("time stands still after {} steps.{}", progress_.steps(), due));
  }
  void Step() {
    Deliver();
    for (size_t i = 0; i < restarts_.size();) {
      if (restarts_[i].at > now_) {
        ++i;
        continue;
      }
      const Restart restart = restarts_[i];
      restarts_.erase(restarts_.begin() + static_cast<ptrdiff_t>(i));
      if (!Runs(restart.id)) Start(restart.id, restart.id, restart.life);
    }
    for (const auto& [address, process] : processes_) {
      if (process->paused) continue;
      if (process->node->NextTick() <= now_) process->node->Tick(now_);
      if (std::exchange(process->fetch_failed, false)) process->node->FetchFailed(now_);
    }
    EndThoseThatYielded();
    CheckSeconds();
  }
  void EndThoseThatYielded() {
    std::vector<std::string> ended;
    for (const auto& [address, process] : processes_) {
      if (process->node->yielded().empty()) continue;
      ended.push_back(address);
    }
    for (const std::string& address : ended) {
      Process& process = *processes_.at(address);
      outcome_.yielded += 1;
      Tell(fmt::format("{} at {} yields: {}", process.id, address, process.node->yielded()));
      if (!HasRival(process)) Fail("yield", process.id + " at " + address + " has met nobody");
      seen_[process.id] = now_;
      if (!subject_.yields) {
        Begin(process);
        continue;
      }
      process.node->Leave(now_);
      processes_.erase(address);
    }
  }
  bool HasRival(const Process& process) const {
    const auto seen = seen_.find(process.id);
    if (seen != seen_.end() && now_ - seen->second < kRivalSeen) return true;
    return std::any_of(processes_.begin(), processes_.end(), [&](const auto& one) {
      return one.second.get() != &process && one.second->id == process.id;
    });
  }

  // ---- Faults ----

  void Fault() {
    const std::string id = ids_[random_.Below(names_)];
    switch (random_.Below(6)) {
      case 0:
      case 1:
      case 2: return Second(id);
      case 3:
        if (!SomeOf(id)) return;
        outcome_.restarts += 1;
        disturbed_ = now_;
        Kill(*SomeOf(id));
        restarts_.push_back(
            {now_ + Duration(10'000'000 + random_.Below(7'000'000'000)), id, NextLife(id)});
        return;
      case 4:
        if (!SomeOf(id)) return;
        outcome_.pauses += 1;
        disturbed_ = now_;
        processes_.at(*SomeOf(id))->paused = true;
        Tell(fmt::format("{} at {} is paused", id, *SomeOf(id)));
        return;
      case 5:
        outcome_.cuts += 1;
        disturbed_ = now_;
        cut_ = true;
        for (const std::string& one : ids_) side_[one] = random_.Below(2) == 0;
        for (const std::string& one : ids_) side_["s" + one] = random_.Below(2) == 0;
        Tell("the network is cut");
        return;
    }
  }
  void Second(const std::string& id) {
    const std::string address = "s" + id;
    if (Runs(address)) return;
    const bool whole = !cut_ && restarts_.empty() && loss_ == 0 && now_ - disturbed_ > 15s &&
                       std::all_of(ids_.begin(), ids_.end(), [&](const std::string& one) {
                         return Runs(one) && !processes_.at(one)->paused;
                       });
    outcome_.seconds += 1;
    Start(address, id, NextLife(id));
    if (!whole) {
      disturbed_ = now_;
      return;
    }
    outcome_.clean += 1;
    clean_.push_back({now_ + kUntilRefused, address, id, processes_.at(id)->life});
    RunFor(kUntilRefused + 1ms);
    CheckSeconds();
  }
  void CheckSeconds() {
    std::erase_if(clean_, [&](const Clean& one) {
      if (one.until > now_) return false;
      const bool holds = Runs(one.holder) && processes_.at(one.holder)->life == one.life;
      if (Runs(one.address)) Fail("second", one.holder + " at " + one.address + " runs still");
      if (!holds) Fail("second", one.holder + " has lost its name to one that came by mistake");
      return true;
    });
  }
  void EndFaults() {
    if (std::exchange(cut_, false)) {
      Tell("the network is whole");
      // No list tells a member that has started meanwhile where to ask for a name: who comes first has it.
      if (open_) disturbed_ = now_;
    }
    for (const auto& [address, process] : processes_) {
      if (!std::exchange(process->paused, false)) continue;
      Tell(process->id + " goes on");
      disturbed_ = now_;
      for (size_t i = 0; i < process->held.size(); ++i) {
        flying_.push_back({now_, process->held_from[i], address, std::move(process->held[i])});
      }
      process->held.clear(), process->held_from.clear();
    }
  }

  // ---- In the end ----

  void CheckSettled() {
    std::map<std::string, Process*> holder;
    for (const auto& [address, process] : processes_) {
      Process*& one = holder[process->id];
      if (one != nullptr) {
        return Fail("settled", process->id + " runs at " + one->address + " and at " + address);
      }
      one = process.get();
    }
    if (holder.size() != names_) return Fail("settled", "nobody is left of a name");
    for (const auto& [id, process] : holder) {
      const std::vector<PeerStatus> peers = process->node->Status(now_).peers;
      if (peers.size() != names_ - 1) return Fail("settled", id + " does not know all");
      for (const PeerStatus& peer : peers) {
        if (!peer.alive) return Fail("settled", peer.id + " is dead to " + id);
        if (peer.incarnation != holder.at(peer.id)->life) {
          return Fail("settled", id + " takes another life for " + peer.id);
        }
      }
    }
    for (const auto& [id, process] : holder) process->replica->Take(kKey, kLimit, 7, now_);
    RunFor(loss_ > 0 ? kToldAgain : kTold);
    for (const auto& [id, process] : holder) {
      const uint64_t left = process->replica->Remaining(kKey, kLimit, now_);
      if (left != kLimit.capacity - 7 * names_) {
        return Fail("settled", fmt::format("{} believes that {} are left", id, left));
      }
    }
  }

  Random random_;
  const NamesSubject subject_;
  std::vector<std::string>* const trace_;
  uint64_t names_ = 0;
  std::vector<std::string> ids_;
  const cluster::ClusterKey key_ =
      *cluster::ClusterKey::FromText("a secret that all nodes of a cluster share");
  Duration latency_{};
  double loss_ = 0, doubling_ = 0;
  bool open_ = false;  // members are whoever has the key (--peers dns:)

  Instant now_ = kStart;
  Progress progress_;
  std::map<std::string, std::unique_ptr<Process>> processes_;  // by address
  std::map<std::string, uint32_t> lives_;
  std::set<std::pair<std::string, uint32_t>> used_;
  std::map<std::string, Instant> seen_;  // when one of that name last ended
  std::vector<Flying> flying_;
  std::vector<Restart> restarts_;
  std::vector<Clean> clean_;
  bool cut_ = false;
  std::map<std::string, bool> side_;
  Instant disturbed_{};
  NamesOutcome outcome_;
};

}  // namespace

std::vector<PlantedNamesBug> PlantedNamesBugs() {
  return {{"never-challenges", "whoever bears a name is not asked", {.challenges = false}},
          {"never-yields", "who has lost its name goes on", {.yields = false}},
          {"never-rests", "a node is due again as soon as it was called", {.rests = false}}};
}

NamesOutcome RunNames(uint64_t seed, const NamesSubject& subject, std::vector<std::string>* trace) {
  return World(seed, subject, trace).Go();
}

}  // namespace weir::chaos

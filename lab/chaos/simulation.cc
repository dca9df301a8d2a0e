#include "lab/chaos/simulation.h"

#include <algorithm>
#include <map>
#include <queue>

#include "lab/chaos/gross_debt.h"
#include "lab/chaos/network.h"
#include "lab/chaos/progress.h"
#include "lab/chaos/row_tracker.h"

namespace weir::chaos {
namespace {

constexpr Duration kLongestQuiet = std::chrono::hours(12);
constexpr Duration kBetweenSlices = std::chrono::milliseconds(20);  // of a copy

class Run final : public Cluster {
 public:
  Run(const Scenario& scenario, const Subject& subject,
      std::span<const std::unique_ptr<Observer>> observers)
      : s_(scenario), subject_(subject), observers_(observers), network_(scenario) {
    nodes_.resize(s_.nodes());
    for (const Limit& limit : s_.limits) gross_.emplace_back(limit);
    members_ = (NodeSet{1} << s_.nodes()) - 1;
  }

  Counts Go() {
    for (uint32_t n = 0; n < s_.nodes(); ++n) Start(n);
    for (const Action& action : s_.actions) {
      RunUntil(action.at);
      Do(action);
      if (IsFault(action.act)) quiet_at_ = std::max(quiet_at_, action.at + action.lasts);
    }
    quiet_at_ = std::max(quiet_at_, s_.busy_until);
    RunUntil(quiet_at_);
    network_.Clear();
    RunUntil(quiet_at_ + s_.converge);
    Tell({.what = What::kConverged});
    RunUntil(AllForgotten());
    Tell({.what = What::kForgotten});
    counts_.simulated = now_ - kStart;
    return counts_;
  }

  const Scenario& scenario() const override { return s_; }
  NodeSet members() const override { return members_; }
  bool Up(uint32_t node) const override { return nodes_[node].state == State::kUp; }
  Origin origin(uint32_t node) const override { return {node, nodes_[node].incarnation}; }
  Replica& replica(uint32_t node) const override { return *nodes_[node].replica; }
  const std::vector<Row>& rows(uint32_t node, uint32_t key) const override {
    return nodes_[node].rows.Of(key);
  }

 private:
  enum class State : uint8_t { kGone, kUp, kPaused, kDown };
  struct Carried {
    uint32_t from = 0;
    uint32_t for_life = 0;  // of the receiver, as the sender knew it
    Instant sent;
    std::string bytes;
  };
  struct Node {
    std::unique_ptr<Replica> replica;
    uint32_t incarnation = 0;
    State state = State::kGone;
    Instant due = kEndOfTime;
    std::map<uint32_t, uint32_t> met;                             // of each node the last life
    std::vector<std::shared_ptr<const Carried>> inbox;            // while it pauses
    std::map<std::pair<uint32_t, int64_t>, uint64_t> refundable;  // by key and window
    RowTracker rows;
  };
  // What a node copies that has come without memory.
  struct Copying {
    uint32_t to = 0, from = 0;
    uint32_t life = 0, host_life = 0;  // when it began
    CopyCursor cursor;
  };
  enum class Kind : uint8_t { kTick, kArrive, kWake, kMend, kCalm, kWelcome, kSlice };
  struct Event {
    Instant at;
    uint64_t order = 0;
    Kind kind = Kind::kTick;
    uint32_t node = 0;
    const Action* action = nullptr;
    std::shared_ptr<const Carried> carried;
    std::shared_ptr<Copying> copying;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  Instant Local(uint32_t node) const { return s_.clocks[node].Local(now_); }
  void Push(Event event) {
    event.order = ++order_;
    events_.push(std::move(event));
  }

  // ---- Telling the observers ----

  void Tell(Happening happening) {
    ++counts_.events;
    happening.at = now_;
    for (const auto& observer : observers_) observer->See(happening, *this);
  }
  // With what changed in the node's rows of the keys from `first` to `last`.
  void TellWithChanges(Happening happening, uint32_t first, uint32_t last) {
    Node& node = nodes_[happening.node];
    node.rows.Begin();
    for (uint32_t key = first; key <= last; ++key) node.rows.Read(*node.replica, key);
    happening.changes = node.rows.changes();
    Tell(happening);
  }

  // ---- Time ----

  void RunUntil(Instant until) {
    while (!events_.empty() && events_.top().at <= until) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      if (!progress_.Step(now_)) {
        throw Violation{"progress", "time stands still: a node is due for ever", now_};
      }
      switch (event.kind) {
        case Kind::kTick: OnTick(event.node); break;
        case Kind::kArrive: OnArrive(event.node, event.carried); break;
        case Kind::kWake: OnWake(event); break;
        case Kind::kMend: OnMend(*event.action); break;
        case Kind::kCalm: network_.Storm(-1); break;
        case Kind::kWelcome: OnWelcome(event.node); break;
        case Kind::kSlice: OnSlice(event.copying); break;
      }
    }
    now_ = std::max(now_, until);
  }
  void Schedule(uint32_t n) {
    Node& node = nodes_[n];
    if (node.state != State::kUp) return;
    const Instant at = std::max(now_, s_.clocks[n].True(node.replica->NextTick()));
    if (at >= node.due || at == kEndOfTime) return;
    node.due = at;
    Push({.at = at, .kind = Kind::kTick, .node = n});
  }
  void OnTick(uint32_t n) {
    Node& node = nodes_[n];
    if (node.due != now_ || node.state != State::kUp) return;  // it was put earlier meanwhile
    node.due = kEndOfTime;
    Send(n, node.replica->Tick(Local(n)), {.what = What::kTick, .node = n});
  }
  void OnArrive(uint32_t n, const std::shared_ptr<const Carried>& carried) {
    Node& node = nodes_[n];
    if (node.state == State::kPaused) node.inbox.push_back(carried);
    if (node.state != State::kUp || !CanOpen(node, *carried)) return;
    Happening came{.what = What::kReceive, .node = n, .other = carried->from};
    came.travelled = now_ - carried->sent;
    auto answers = node.replica->Receive(carried->bytes, Local(n), came.good);
    Send(n, std::move(answers), came);
  }
  // Datagrams are sealed for one life of the receiver (cluster/seal.h), and the counter relies on that: a
  // limit is of use only to whoever has heard the rows that it was reckoned with. The others are held to
  // more.
  bool CanOpen(const Node& node, const Carried& carried) const {
    return carried.for_life == node.incarnation || s_.kind != EnvelopeKind::kCounter;
  }
  std::shared_ptr<const Carried> From(uint32_t n, uint32_t for_life, std::string bytes) const {
    return std::make_shared<const Carried>(Carried{n, for_life, now_, std::move(bytes)});
  }
  void Send(uint32_t n, std::vector<Envelope> envelopes, Happening happening) {
    happening.sent = envelopes;
    TellWithChanges(happening, 0, s_.keys() - 1);
    counts_.envelopes += envelopes.size();
    for (Envelope& envelope : envelopes) {
      if (envelope.to >= s_.nodes()) continue;
      uint32_t& met = nodes_[n].met[envelope.to];
      // They greet each other, too.
      if (met == 0 || (network_.Passes(n, envelope.to) && network_.Passes(envelope.to, n))) {
        met = nodes_[envelope.to].incarnation;
      }
      const auto carried = From(n, met, std::move(envelope.bytes));
      network_.Carry(n, envelope.to, [&](Duration delay) {
        Push({.at = now_ + delay, .kind = Kind::kArrive, .node = envelope.to, .carried = carried});
      });
    }
    Schedule(n);
  }

  // ---- Actions ----

  void Do(const Action& action) {
    switch (action.act) {
      case Act::kRequest:
      case Act::kTake:
      case Act::kRefund:
        if (nodes_[action.node].state == State::kUp) Use(action);
        return;
      case Act::kCut:
        network_.Cut(action, 1);
        Push({.at = now_ + action.lasts, .kind = Kind::kMend, .action = &action});
        Tell({.what = What::kCut, .action = &action});
        break;
      case Act::kStorm:
        network_.Storm(1);
        Push({.at = now_ + action.lasts, .kind = Kind::kCalm});
        Tell({.what = What::kStorm, .action = &action});
        break;
      case Act::kPause:
      case Act::kCrash:
      case Act::kAmnesia:
      case Act::kLeave:
        if (nodes_[action.node].state != State::kUp) return;
        Stop(action);
        break;
    }
    ++counts_.faults[static_cast<size_t>(action.act)];
  }
  void Use(const Action& action) {
    Node& node = nodes_[action.node];
    const Key key = KeyOf(action.key);
    const Limit& limit = s_.limits[action.key];
    const Instant now = Local(action.node);
    const bool back = action.act == Act::kRefund;
    // It is given back to the window that was charged.
    const Instant counted = back ? s_.clocks[action.node].Local(action.taken) : now;
    Happening use{.node = action.node,
                  .key = action.key,
                  .window = limit.WindowOf(counted),
                  .cost = action.cost};
    uint64_t& refundable = node.refundable[{action.key, use.window}];
    if (action.act == Act::kRequest) {
      use.what = What::kRequest;
      use.admitted = node.replica->Admit(key, limit.Asked(now), use.cost, now);
      ++counts_.requests;
      ++(use.admitted ? counts_.admitted : counts_.refused);
    } else if (action.act == Act::kTake) {
      use.what = What::kTake;
      node.replica->Take(key, limit.Asked(now), use.cost, now);
    } else {
      use.what = What::kRefund;
      use.cost = std::min(use.cost, refundable);
      if (use.cost == 0) return;
      refundable -= use.cost;
      node.replica->Refund({key, use.window}, use.cost, now);
      gross_[action.key].Refund(now_);
    }
    const bool took = use.admitted || use.what == What::kTake;
    if (took) refundable += use.cost;
    if (took) gross_[action.key].Charge(use.cost, now_);
    TellWithChanges(use, action.key, action.key);
    Schedule(action.node);
  }
  void Stop(const Action& action) {
    Node& node = nodes_[action.node];
    if (action.act == Act::kLeave) {
      Send(action.node, node.replica->Farewell(Local(action.node)),
           {.what = What::kTick, .node = action.node});
    }
    node.due = kEndOfTime;
    const bool forgets = action.act == Act::kAmnesia || action.act == Act::kLeave;
    node.state = action.act == Act::kPause ? State::kPaused : forgets ? State::kGone : State::kDown;
    Tell({.what = forgets ? What::kEnd : What::kAway, .node = action.node, .action = &action});
    if (forgets) node.replica.reset();
    if (action.act == Act::kLeave) SetMembers(members_ & ~(NodeSet{1} << action.node));
    Push({.at = now_ + action.lasts, .kind = Kind::kWake, .node = action.node, .action = &action});
  }
  void OnWake(const Event& event) {
    Node& node = nodes_[event.node];
    if (node.state == State::kGone) {
      if (event.action->act == Act::kLeave) SetMembers(members_ | NodeSet{1} << event.node);
      Start(event.node);
      return OnWelcome(event.node);
    }
    node.state = State::kUp;
    Tell({.what = What::kBack, .node = event.node});
    for (const auto& carried : std::exchange(node.inbox, {})) OnArrive(event.node, carried);
    Schedule(event.node);
  }
  void OnMend(const Action& cut) {
    network_.Cut(cut, -1);
    Tell({.what = What::kMend, .action = &cut});
  }

  // ---- Lives ----

  void Start(uint32_t n) {
    Node& node = nodes_[n];
    const bool first = node.incarnation == 0;
    node.incarnation += first || subject_.new_life_new_name ? 1 : 0;
    node.replica = subject_.make(s_, {n, node.incarnation}, Local(n));
    node.state = State::kUp;
    node.refundable.clear();
    node.met.clear();
    node.rows = RowTracker(s_.keys());
    node.replica->SetPeers(Peers());
    Tell({.what = What::kStart, .node = n});
    Schedule(n);
  }
  std::vector<uint32_t> Peers() const {
    std::vector<uint32_t> peers;
    for (uint32_t n = 0; n < s_.nodes(); ++n) {
      if (Has(members_, n)) peers.push_back(n);
    }
    return peers;
  }
  void SetMembers(NodeSet members) {
    members_ = members;
    for (uint32_t n = 0; n < s_.nodes(); ++n) {
      if (!nodes_[n].replica) continue;
      nodes_[n].replica->SetPeers(Peers());
      Schedule(n);
    }
  }
  // Tells a node that has come without memory what the first who can be reached knows.
  void OnWelcome(uint32_t n) {
    if (nodes_[n].state == State::kGone) return;
    for (uint32_t i = 1; i < s_.nodes(); ++i) {
      const uint32_t host = (n + i) % s_.nodes();
      if (!CanCopy(host, n)) continue;
      return OnSlice(std::make_shared<Copying>(
          Copying{n, host, nodes_[n].incarnation, nodes_[host].incarnation, {}}));
    }
    WelcomeLater(n);
  }
  void WelcomeLater(uint32_t n) {
    Push({.at = now_ + std::chrono::seconds(1), .kind = Kind::kWelcome, .node = n});
  }
  bool CanCopy(uint32_t host, uint32_t n) const {
    return nodes_[host].state == State::kUp && network_.Passes(host, n) && network_.Passes(n, host);
  }
  // A key at a time, and anything may happen between: if that is the end of either, it begins anew.
  void OnSlice(const std::shared_ptr<Copying>& copying) {
    const auto& [to, from, life, host_life, cursor] = *copying;
    if (nodes_[to].state == State::kGone || nodes_[to].incarnation != life) return;
    if (!CanCopy(from, to) || nodes_[from].incarnation != host_life) return WelcomeLater(to);
    const Slice slice = nodes_[from].replica->Everything(
        to, copying->cursor, {.keys = 1, .bytes = kMostEnvelopeBytes}, Local(from));
    for (const Envelope& envelope : slice.envelopes) {
      const auto carried = From(from, life, envelope.bytes);
      Push({now_ + network_.latency(), 0, Kind::kArrive, to, nullptr, carried, nullptr});
    }
    if (slice.last) return;
    Push({.at = now_ + kBetweenSlices, .kind = Kind::kSlice, .copying = copying});
  }

  // ---- Quiet ----

  Instant AllForgotten() const {
    Instant full = now_;
    for (const GrossDebt& debt : gross_) full = std::max(full, debt.ZeroAt());
    full = std::min(full, now_ + kLongestQuiet);
    return full + 4 * s_.timing.memory + 20 * s_.timing.interval + std::chrono::seconds(5);
  }

  const Scenario& s_;
  const Subject& subject_;
  const std::span<const std::unique_ptr<Observer>> observers_;

  Network network_;
  std::vector<Node> nodes_;
  NodeSet members_ = 0;
  std::priority_queue<Event> events_;
  Progress progress_;
  uint64_t order_ = 0;
  Instant now_ = kStart;
  Instant quiet_at_ = kStart;
  std::vector<GrossDebt> gross_;  // by key
  Counts counts_;
};

}  // namespace

Counts Simulate(const Scenario& scenario, const Subject& subject,
                std::span<const std::unique_ptr<Observer>> observers) {
  return Run(scenario, subject, observers).Go();
}

}  // namespace weir::chaos

#include "weir/limiter.h"

#include "base/random.h"
#include "limiter/limiter_impl.h"
#include "rules/read/parse.h"

namespace weir {
namespace {

constexpr size_t kBatch = 16;
constexpr uint64_t kLeastMemory = uint64_t{4} << 20;

std::atomic<uint64_t> next_limiter_id{1};

std::array<uint64_t, 2> SecretOf(const LimiterOptions& options) {
  if (options.secret != std::array<uint64_t, 2>{}) return options.secret;
  return {UnguessableWord(), UnguessableWord()};
}

// Of which tickets take a quarter at most, and holds and those who wait for them a half.
uint64_t MemoryOf(const LimiterOptions& options) {
  return std::max(options.memory_bytes, kLeastMemory);
}

size_t MostSessions(const LimiterOptions& options) {
  return std::min<size_t>(MemoryOf(options) / 4096, size_t{1} << 20);
}

// No rule has this identity: those of rules have four parts.
Key SaltOf(const KeyedHash& hash, std::string_view kind) { return hash.OfAll(std::array{kind}); }

}  // namespace

std::string_view MessageOf(Code code) {
  switch (code) {
    case Code::kUnknownNamespace: return "no namespace of this name has rules";
    case Code::kUnknownResource: return "the namespace has no resource of this name";
    case Code::kWrongKind: return "the resource is limited by copies: reserve it";
    case Code::kOverloaded: return "no memory is left for new keys of this limit, or for the limit";
    case Code::kUnavailable:
      return "a store that decides a limit of this request is away or too slow";
    default: return "";
  }
}

Limiter::Impl::Impl(std::shared_ptr<const Rulebook> rules, const LimiterOptions& options,
                    Instant now)
    : id_(next_limiter_id.fetch_add(1)),
      adhoc_(options.adhoc),
      adhoc_replication_(options.adhoc_replication),
      hash_(SecretOf(options)),
      adhoc_salt_(SaltOf(hash_, "adhoc")),
      carried_salt_(SaltOf(hash_, "carried")),
      pool_salt_(SaltOf(hash_, "pool")),
      deadline_(options.deadline),
      time_(now),
      store_(MemoryOf(options), time_.Of(now), options.max_limits),
      remote_(options.remote_store ? options.remote_store(store_) : nullptr),
      placement_{.has_remote = remote_ != nullptr, .all_remote = options.all_remote},
      router_(store_, remote_.get()),
      tickets_(options.node, options.ticket_ttl, options.max_tickets, MemoryOf(options) / 4,
               store_),
      carried_(store_, MemoryOf(options)),
      pools_(store_),
      holds_(*this, pools_, store_,
             {.node = options.node,
              .outstanding = options.holds_outstanding,
              .bytes = MemoryOf(options) / 2,
              .most_sessions = MostSessions(options),
              .copies_from = After(time_.Of(now), options.no_copies_for)}),
      names_(store_.limits(), placement_) {
  Install(std::move(rules), now);
}

void Limiter::Impl::Install(std::shared_ptr<const Rulebook> rules, Instant told) {
  const Instant now = time_.Of(told);
  const std::lock_guard installing(install_mutex_);
  auto next =
      std::make_shared<const RulesInForce>(std::move(rules), rules_.get(), hash_, names_, now);
  // What is replaced is given up by this thread, unless another still looks at it.
  {
    const std::lock_guard lock(mutex_);
    rules_.swap(next);
    version_.fetch_add(1, std::memory_order_release);
  }
}

const RulesInForce& Limiter::Impl::InForce() {
  struct Seen {
    uint64_t id = 0, version = 0;
    std::shared_ptr<const RulesInForce> rules;
  };
  thread_local std::array<Seen, 4> cache;
  Seen& seen = cache[id_ % cache.size()];
  if (seen.id != id_ || seen.version != version_.load(std::memory_order_acquire)) [[unlikely]] {
    const std::lock_guard lock(mutex_);
    seen = {id_, version_.load(std::memory_order_relaxed), rules_};
  }
  return *seen.rules;
}

// ---- Match ----

Key Limiter::Impl::PartsKey(const RuleLimit& rule, const Request& request) const {
  absl::InlinedVector<std::string_view, 4> parts;
  for (const KeyPart part : rule.key) {
    switch (part) {
      case KeyPart::kNamespace: parts.push_back(request.namespace_name); break;
      case KeyPart::kResource: parts.push_back(request.resource); break;
      case KeyPart::kSubject: parts.push_back(request.subject); break;
    }
  }
  return hash_.OfAll(parts);
}

void Limiter::Impl::AddCharges(const RulesInForce& rules, const Request& request,
                               std::span<const RuleLimit> limits, Prepared& prepared) {
  const bool shadow = prepared.match.enforcement == Enforcement::kShadow;
  for (const RuleLimit& rule : limits) {
    const LimitInForce& in_force = rules[rule];
    if (in_force.slot == nullptr) {
      if (in_force.without_slot && !shadow && !rule.shadow) {
        prepared.Fail(Code::kOverloaded, MessageOf(Code::kOverloaded));
      }
      continue;
    }
    prepared.remote = prepared.remote || in_force.remote;
    const Key key = KeyOf(in_force, rule, request, prepared.subject);
    store_.Prefetch(key);
    prepared.charges.emplace_back(key, in_force.slot, request.cost,
                                  request.min_cost.value_or(request.cost), shadow || rule.shadow);
  }
}

void Limiter::Impl::Prepare(const RulesInForce& rules, const Request& request, Prepared& prepared) {
  if (request.min_cost.value_or(request.cost) > request.cost) {
    return prepared.Fail(Code::kBadRequest, "min_cost is greater than cost", "min_cost");
  }
  if (request.subject.size() > kLongestSubject) {
    return prepared.Fail(Code::kBadRequest, "the subject is longer than 1024 bytes", "subject");
  }
  rules.rules().Match(request.namespace_name, request.resource, request.subject, prepared.match);
  if (const Code error = prepared.match.error; error != Code::kOk) {
    return prepared.Fail(error, MessageOf(error), FieldOf(error));
  }
  prepared.subject = hash_(request.subject);
  if (request.settle) prepared.ns = hash_(request.namespace_name).low;
  if (prepared.match.enforcement == Enforcement::kOff) return;
  AddCharges(rules, request, prepared.match.limits, prepared);
  AddCharges(rules, request, prepared.match.contract, prepared);
}

// ---- Decide ----

void Limiter::Impl::Finish(const RulesInForce& rules, const Request& request, Mode mode,
                           Instant now, Prepared& prepared, Decision& decision) {
  decision.Clear();
  decision.error = prepared.error;
  decision.message = prepared.message;
  decision.field = prepared.field;
  if (prepared.error != Code::kOk) return;

  Admitted admitted{.allowed = true, .granted = request.cost};
  const std::span<Charge> charges(prepared.charges);
  if (mode == Mode::kLook) {
    if (!charges.empty()) admitted = store_.PeekNow(charges, now);
  } else if (request.settle) {
    admitted = AdmitWithTicket(prepared, now, decision);
    if (charges.empty()) admitted = {.allowed = true, .granted = request.cost};
  } else if (!charges.empty()) {
    admitted = store_.AdmitNow(charges, now);
  }
  Conclude(rules, request, mode, admitted, now, prepared, decision);
}

void Limiter::Impl::Conclude(const RulesInForce& rules, const Request& request, Mode mode,
                             const Admitted& admitted, Instant now, const Prepared& prepared,
                             Decision& decision) {
  if (admitted.error != Code::kOk) [[unlikely]] {
    decision.error = admitted.error;
    decision.message = MessageOf(admitted.error);
    return;
  }
  Explain(admitted, rules, prepared.match, prepared.charges, decision);
  if (mode == Mode::kTake) Count(rules, request, prepared, decision, now);
}

Admitted Limiter::Impl::AdmitWithTicket(Prepared& prepared, Instant now, Decision& decision) {
  const std::span<Charge> charges(prepared.charges);
  std::vector<Receipt> receipts(charges.size());
  for (size_t i = 0; i < charges.size(); ++i) charges[i].receipt = &receipts[i];
  Admitted admitted{.allowed = true};
  if (!charges.empty()) admitted = store_.AdmitNow(charges, now);
  // Nothing of what was refused is settled.
  std::erase_if(receipts, [&](const Receipt& receipt) {
    if (receipt.rejected > 0) store_.Close({&receipt, 1}, now);
    return receipt.limit == nullptr || receipt.rejected > 0;
  });
  if (admitted.error != Code::kOk || !admitted.allowed) return admitted;
  decision.ticket = IssueTicket(std::move(receipts), prepared, now);
  return admitted;
}

Ticket Limiter::Impl::IssueTicket(std::vector<Receipt> receipts, const Prepared& prepared,
                                  Instant now) {
  std::vector<Receipt> forgone;
  const uint32_t owner = prepared.charges.empty() ? 0 : prepared.charges[0].limit->owner;
  const Ticket ticket = tickets_.Issue(std::move(receipts), owner, prepared.ns, now, &forgone);
  CloseReceipts(forgone, now);
  return ticket;
}

// Nobody will settle these.
void Limiter::Impl::CloseReceipts(std::span<const Receipt> receipts, Instant now) {
  for (const Receipt& receipt : receipts) {
    (receipt.remote ? *remote_ : static_cast<Store&>(store_)).Close({&receipt, 1}, now);
  }
}

void Limiter::Impl::Count(const RulesInForce& rules, const Request& request,
                          const Prepared& prepared, const Decision& decision, Instant now) {
  if (prepared.match.resource == nullptr) return;
  const Resource& resource = *prepared.match.resource;
  Tally& tally = rules.TallyOf(resource);
  tally.counts.Add(decision.allowed, decision.granted);
  tally.busiest.Add(request.subject, prepared.subject.low, now);
  if (!decision.allowed) tally.refused.Add(request.subject, prepared.subject.low, now);
  bool would_refuse = false;
  for (const LimitStatus& status : decision.limits()) {
    if (!status.refused) [[likely]]
      continue;
    would_refuse = would_refuse || status.shadow;
    // One refusal, one limit: the one that decided.
    if (!status.shadow && status.name != decision.limit) continue;
    for (const auto& limit : rules.LimitTalliesOf(resource)) {
      if (limit->name != status.name) continue;
      auto& count = status.shadow ? limit->would_refuse : limit->refused;
      count.fetch_add(1, std::memory_order_relaxed);
    }
  }
  if (would_refuse) [[unlikely]] {
    tally.would_refuse.Add(request.subject, prepared.subject.low, now);
  }
}

void Limiter::Impl::Decide(const Request& request, Instant told, Mode mode, Decision& decision) {
  __builtin_prefetch(request.subject.data());  // is read after the match
  const Instant now = time_.Of(told);
  const RulesInForce& rules = InForce();
  Prepared prepared;
  Prepare(rules, request, prepared);
  if (prepared.remote) [[unlikely]]
    return DecideWithoutWaiting(rules, request, told, now, mode, decision);
  Finish(rules, request, mode, now, prepared, decision);
}

void Limiter::Impl::DecideBatch(std::span<const Request> requests, Instant told,
                                std::span<Decision> out) {
  const Instant now = time_.Of(told);
  const RulesInForce& rules = InForce();
  while (!requests.empty()) {
    const size_t n = std::min(kBatch, requests.size());
    std::array<Prepared, kBatch> prepared;
    for (size_t i = 0; i < n; ++i) __builtin_prefetch(requests[i].subject.data());
    for (size_t i = 0; i < n; ++i) Prepare(rules, requests[i], prepared[i]);
    for (size_t i = 0; i < n; ++i) {
      if (prepared[i].remote) [[unlikely]] {
        DecideWithoutWaiting(rules, requests[i], told, now, Mode::kTake, out[i]);
      } else {
        Finish(rules, requests[i], Mode::kTake, now, prepared[i], out[i]);
      }
    }
    requests = requests.subspan(n);
    out = out.subspan(n);
  }
}

void Limiter::Impl::Tick(Instant told) {
  const Instant now = time_.Of(told);
  for (bool more = true; more;) {
    std::vector<Receipt> forgone;
    more = tickets_.ExpireSome(now, &forgone);
    CloseReceipts(forgone, now);
  }
  holds_.Tick(now);
  Sample(now);
  carried_.Tick(now);
  store_.Tick(now);
  if (remote_ != nullptr) remote_->Tick(now);
}

LimiterStats Limiter::Impl::Stats() {
  const HoldBook::Sizes holds = holds_.sizes();
  return {.keys = store_.keys(),
          .bytes = store_.bytes(),
          .forgotten = store_.forgotten(),
          .overloaded = store_.overloaded(),
          .open_tickets = tickets_.open(),
          .sessions = holds.sessions,
          .holds = holds.holds,
          .transfers = holds.transfers,
          .waiting = holds_.waiting(),
          .awaited = router_.waiting(),
          .failures = router_.Failures(),
          .rulebook_version = version_.load()};
}

// ---- The public face ----

Limiter::Limiter(std::shared_ptr<const Rulebook> rules, const LimiterOptions& options, Instant now)
    : impl_(std::make_unique<Impl>(std::move(rules), options, now)) {}
Limiter::~Limiter() = default;

Result<std::unique_ptr<Limiter>> Limiter::Open(const std::string& path,
                                               const LimiterOptions& options, Instant now) {
  std::string errors;
  std::shared_ptr<const Rulebook> rules = LoadRules(path, &errors);
  if (rules == nullptr) return Error{Code::kBadRequest, errors, ""};
  return std::make_unique<Limiter>(std::move(rules), options, now);
}

void Limiter::Install(std::shared_ptr<const Rulebook> rules, Instant now) {
  impl_->Install(std::move(rules), now);
}

std::shared_ptr<const Rulebook> Limiter::rules() const { return impl_->InForce().shared_rules(); }

void Limiter::Decide(const Request& request, Instant now, Decision& decision) {
  impl_->Decide(request, now, Impl::Mode::kTake, decision);
}

Decision Limiter::Decide(const Request& request, Instant now) {
  Decision decision;
  impl_->Decide(request, now, Impl::Mode::kTake, decision);
  return decision;
}

Decision Limiter::Peek(const Request& request, Instant now) {
  Decision decision;
  impl_->Decide(request, now, Impl::Mode::kLook, decision);
  return decision;
}

void Limiter::DecideBatch(std::span<const Request> requests, Instant now, std::span<Decision> out) {
  impl_->DecideBatch(requests, now, out);
}

void Limiter::DecideDescriptors(const DescriptorRequest& request, Instant now,
                                DescriptorDecision& decision) {
  impl_->DecideDescriptors(request, now, decision);
}

void Limiter::DecideAdhoc(const AdhocRequest& request, Instant now, Decision& decision) {
  impl_->DecideAdhoc(request, now, decision);
}

Result<Settled> Limiter::Settle(const Ticket& ticket, uint64_t cost, Instant now,
                                const Reach* reach) {
  return impl_->Settle({ticket, cost, reach}, now);
}

When Limiter::Decide(DecideCall& call, Instant now) { return impl_->Decide(call, now); }
size_t Limiter::Decide(std::span<DecideCall* const> calls, Instant now) {
  return impl_->Decide(calls, now);
}
When Limiter::Decide(DescriptorCall& call, Instant now) { return impl_->Decide(call, now); }
When Limiter::Settle(SettleCall& call, Instant now) { return impl_->Settle(call, now); }
void Limiter::Abandon(DecideCall& call, Instant now) { impl_->Abandon(call, now); }
void Limiter::Abandon(DescriptorCall& call, Instant now) { impl_->Abandon(call, now); }
void Limiter::Abandon(SettleCall& call, Instant now) { impl_->Abandon(call, now); }

void Limiter::SettleElsewhere(ElsewhereSettler settler) {
  impl_->SettleElsewhere(std::move(settler));
}

SessionId Limiter::OpenSession(Duration ttl, Instant now, std::string_view client) {
  return impl_->OpenSession(ttl, now, client);
}

bool Limiter::RenewSession(const SessionId& session, Instant now) {
  return impl_->RenewSession(session, now);
}

void Limiter::EndSession(const SessionId& session, Instant now) { impl_->EndSession(session, now); }
void Limiter::ReleaseAll(const SessionId& session, Instant now) { impl_->ReleaseAll(session, now); }

void Limiter::Reserve(const SessionId& session, const ReserveRequest& request, Instant now,
                      ReserveDone done) {
  impl_->Reserve(session, request, now, std::move(done));
}

void Limiter::ReservePool(const SessionId& session, const PoolRequest& request, Instant now,
                          ReserveDone done) {
  impl_->ReservePool(session, request, now, std::move(done));
}

Result<uint64_t> Limiter::Release(const SessionId& session, const Ticket& hold, uint64_t copies,
                                  Instant now, const Reach* reach) {
  return impl_->Release(session, hold, copies, now, reach);
}

Result<Ticket> Limiter::Transfer(const SessionId& session, const Ticket& hold, uint64_t copies,
                                 Duration ttl, Instant now, const Reach* reach) {
  return impl_->Transfer(session, hold, copies, ttl, now, reach);
}

Result<Seized> Limiter::Seize(const SessionId& session, const Ticket& transfer, Instant now,
                              const Reach* reach) {
  return impl_->Seize(session, transfer, now, reach);
}

void Limiter::CoordinateWith(Coordinator* coordinator) { impl_->CoordinateWith(coordinator); }
void Limiter::ApplyOthers(uint64_t key_high, uint64_t key_low, Instant now) {
  impl_->ApplyOthers({key_high, key_low}, now);
}

std::vector<SavedState> Limiter::TakeChanged(Instant now) { return impl_->TakeChanged(now); }

size_t Limiter::Restore(std::span<const SavedState> saved, Instant now) {
  return impl_->Restore(saved, now);
}
void Limiter::LookAgain(std::span<const SavedState> saved) { impl_->LookAgain(saved); }
std::vector<std::string> Limiter::PersistentLimits() const { return impl_->PersistentLimits(); }

void Limiter::Tick(Instant now) { impl_->Tick(now); }

std::vector<SubjectCount> Limiter::Busiest(std::string_view namespace_name,
                                           std::string_view resource) const {
  const RulesInForce& rules = impl_->InForce();
  const Resource* found = rules.rules().FindResource(namespace_name, resource);
  return found == nullptr ? std::vector<SubjectCount>{} : rules.TallyOf(*found).busiest.List();
}

std::vector<SubjectCount> Limiter::MostRefused(std::string_view namespace_name,
                                               std::string_view resource) const {
  const RulesInForce& rules = impl_->InForce();
  const Resource* found = rules.rules().FindResource(namespace_name, resource);
  return found == nullptr ? std::vector<SubjectCount>{} : rules.TallyOf(*found).refused.List();
}

std::vector<SubjectCount> Limiter::WouldRefuse(std::string_view namespace_name,
                                               std::string_view resource) const {
  const RulesInForce& rules = impl_->InForce();
  const Resource* found = rules.rules().FindResource(namespace_name, resource);
  return found == nullptr ? std::vector<SubjectCount>{} : rules.TallyOf(*found).would_refuse.List();
}

LimiterStats Limiter::Stats() const { return impl_->Stats(); }

LimiterCounts Limiter::AllCounts() const { return impl_->AllCounts(); }

std::optional<History> Limiter::Past(std::string_view namespace_name, std::string_view resource,
                                     Instant now) const {
  return impl_->Past(namespace_name, resource, now);
}

SubjectReport Limiter::Report(std::string_view namespace_name, std::string_view resource,
                              std::string_view subject, Instant now) const {
  return impl_->Report(namespace_name, resource, subject, now);
}

}  // namespace weir

#include "cli/interpreter.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/plain_text.h"
#include "base/time_text.h"

namespace weir {
namespace {

using Verb = Command::Verb;

Request ToRequest(const Command& command) {
  Request request;
  request.namespace_name = command.namespace_name;
  request.resource = command.resource;
  request.subject = command.subject;
  request.cost = command.amount;
  request.min_cost = command.least;
  request.settle = command.settle;
  return request;
}

}  // namespace

Interpreter::Interpreter(Limiter* limiter, Clock* clock, Options options)
    : limiter_(limiter), clock_(clock), options_(std::move(options)), latest_(options_.start) {
  if (options_.frozen) frozen_ = options_.start;
}

Interpreter::~Interpreter() {
  for (const auto& [name, session] : sessions_) limiter_->EndSession(session, latest_);
}

std::string Interpreter::Run(std::string_view line) {
  const Result<Command> command = ParseCommand(line);
  if (!command) return Mistake(command.error().message);
  return Carry(*command);
}

Instant Interpreter::Now() {
  latest_ = frozen_ ? *frozen_ : std::max(latest_, clock_->Now());
  return latest_;
}

std::string Interpreter::Carry(const Command& command) {
  if (!command.time.empty()) {
    const std::string mistake = SetTime(command.time);
    if (!mistake.empty()) return mistake;
  }
  limiter_->Tick(Now());
  std::string answer = std::exchange(late_, {});
  answer += command.repeated ? Repeat(command) : Once(command);
  if (!late_.empty()) answer += "\n" + std::exchange(late_, {});
  while (answer.ends_with('\n')) answer.pop_back();
  return answer;
}

std::string Interpreter::Repeat(const Command& command) {
  if (command.every != Duration::zero() && !frozen_) frozen_ = Now();
  uint64_t allowed = 0;
  std::string last;
  for (uint64_t i = 0; i < command.repeat; ++i) {
    if (i > 0 && frozen_) frozen_ = After(*frozen_, command.every);
    last_allowed_ = false;
    last = Once(command);
    if (last_allowed_) ++allowed;
  }
  return PlainFormat("{} allowed, {} refused; the last:\n", allowed, command.repeat - allowed) +
         last;
}

std::string Interpreter::Once(const Command& command) {
  switch (command.verb) {
    case Verb::kNothing: return {};
    case Verb::kRequest: return Decide(command);
    case Verb::kPeek: return Decide(command);
    case Verb::kLimits: return Limits(command);
    case Verb::kSettle: return Settle(command);
    case Verb::kReserve: return Reserve(command);
    case Verb::kRelease: return Release(command);
    case Verb::kTransfer: return Transfer(command);
    case Verb::kSeize: return Seize(command);
    case Verb::kEnd: return End(command);
    case Verb::kReload:
      return options_.reload ? options_.reload(Now()) : Mistake("nothing to reload");
    case Verb::kHelp: return Help();
    case Verb::kQuit: quit_ = true; return {};
  }
  __builtin_unreachable();
}

std::string Interpreter::Decide(const Command& command) {
  const Request request = ToRequest(command);
  const Decision decision = command.verb == Verb::kPeek ? limiter_->Peek(request, Now())
                                                        : limiter_->Decide(request, Now());
  last_allowed_ = decision.allowed;
  return DecisionText(decision, Number(decision.ticket), Style());
}

std::string Interpreter::Limits(const Command& command) {
  const Decision decision = limiter_->Peek(ToRequest(command), Now());
  last_allowed_ = decision.allowed;
  const std::string first = DecisionText(decision, 0, Style());
  return decision.error == Code::kOk ? first + "\n" + LimitsText(decision, Style()) : first;
}

std::string Interpreter::Settle(const Command& command) {
  const std::optional<Ticket> ticket = Find(command.name);
  if (!ticket) return Mistake(PlainFormat("no ticket is called '{}'", command.name));
  const Result<Settled> settled = limiter_->Settle(*ticket, command.amount, Now());
  if (!settled) return Told(settled.error());
  return SettledText(*settled);
}

std::string Interpreter::Reserve(const Command& command) {
  const ReserveRequest request{.namespace_name = command.namespace_name,
                               .resource = command.resource,
                               .subject = command.subject,
                               .copies = command.amount,
                               .min_copies = command.least.value_or(command.amount),
                               .wait = command.wait};
  std::optional<std::string> answer;
  const auto at_once = std::make_shared<bool>(true);
  const std::string& who = command.session.empty() ? command.subject : command.session;
  limiter_->Reserve(Session(command.session), request, Now(),
                    [this, &answer, at_once, who](const Result<Reservation>& told) {
                      std::string text = ReserveText(told);
                      if (*at_once) {
                        answer = std::move(text);
                      } else {
                        late_ += PlainText(who) + ": " + text + "\n";
                      }
                    });
  *at_once = false;
  return answer.value_or("waits");
}

std::string Interpreter::ReserveText(const Result<Reservation>& reservation) {
  if (!reservation) return Told(reservation.error());
  last_allowed_ = reservation->allowed;
  if (reservation->outcome == Outcome::kTimeout) return "has waited in vain";
  return ReservationText(*reservation, Number(reservation->hold), Style());
}

std::string Interpreter::Release(const Command& command) {
  const std::optional<Ticket> hold = Find(command.name);
  if (!hold) return Mistake(PlainFormat("no hold is called '{}'", command.name));
  const Result<uint64_t> left =
      limiter_->Release(Session(command.session), *hold, command.amount, Now());
  if (!left) return Told(left.error());
  return PlainFormat("released, {} left", *left);
}

std::string Interpreter::Transfer(const Command& command) {
  const std::optional<Ticket> hold = Find(command.name);
  if (!hold) return Mistake(PlainFormat("no hold is called '{}'", command.name));
  const Result<Ticket> transfer =
      limiter_->Transfer(Session(command.session), *hold, command.amount, command.ttl, Now());
  if (!transfer) return Told(transfer.error());
  return PlainFormat("staged, as #{}", Number(*transfer));
}

std::string Interpreter::Seize(const Command& command) {
  const std::optional<Ticket> transfer = Find(command.name);
  if (!transfer) return Mistake(PlainFormat("no transfer is called '{}'", command.name));
  const Result<Seized> seized = limiter_->Seize(Session(command.session), *transfer, Now());
  if (!seized) return Told(seized.error());
  return SeizedText(*seized, Number(seized->hold));
}

std::string Interpreter::End(const Command& command) {
  const auto session = sessions_.find(command.session);
  if (session == sessions_.end()) {
    return Mistake(PlainFormat("no session is called '{}'", command.session));
  }
  limiter_->EndSession(session->second, Now());
  sessions_.erase(session);
  return "ended";
}

const SessionId& Interpreter::Session(const std::string& name) {
  SessionId& session = sessions_[name];
  if (!session) session = limiter_->OpenSession(kNever, Now());
  return session;
}

std::string Interpreter::SetTime(const std::string& text) {
  const std::optional<Instant> time = ParseInstant(text, options_.start);
  if (!time) {
    return Mistake(PlainFormat("'{}' is no time such as 1.5s or 2026-11-15T10:00:00Z", text));
  }
  if (*time < latest_) {
    return Mistake(PlainFormat("time does not go back: it is {} already",
                               DurationText(latest_ - options_.start)));
  }
  frozen_ = latest_ = *time;
  return {};
}

size_t Interpreter::Number(const Ticket& ticket) {
  if (!ticket) return 0;
  tickets_.push_back(ticket);
  return tickets_.size();
}

std::optional<Ticket> Interpreter::Find(const std::string& name) const {
  if (name.empty() || name[0] != '#') return Ticket::Parse(name);
  size_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 1, end, number);
  if (error != std::errc() || stop != end || number == 0 || number > tickets_.size()) {
    return std::nullopt;
  }
  return tickets_[number - 1];
}

AnswerStyle Interpreter::Style() const {
  AnswerStyle style = options_.style;
  style.rounded = !frozen_;
  return style;
}

std::string Interpreter::Mistake(std::string_view message) const {
  return ErrorText(Code::kBadRequest, message, Style());
}

std::string Interpreter::Told(const Error& error) const {
  return ErrorText(error.code, error.message, Style());
}

std::string Interpreter::Help() {
  return R"(NAMESPACE RESOURCE SUBJECT [COST]    ask; COST is 1 unless given
    … min=N                          be content with N of them
    … settle                         tell the true cost later
peek NAMESPACE RESOURCE SUBJECT      look, take nothing; limits … shows every limit
settle #TICKET COST                  the true cost of a request with a ticket
reserve NAMESPACE RESOURCE SUBJECT [COPIES] [min=N] [wait=DURATION]
release #HOLD [COPIES]               all copies unless given
transfer #HOLD [COPIES] ttl=DURATION for whoever seizes them in time: seize #TRANSFER
as SESSION LINE                      reserve, release, … as another client; end SESSION: he is gone
@TIME LINE                           @1.5s, @2m, @2026-11-15T10:00:00Z: then time stands still
repeat N [every DURATION] LINE       as often, counting
reload                               read the rules again
help, quit)";
}

}  // namespace weir

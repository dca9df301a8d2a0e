#include "clients/cpp/src/asker.h"

namespace weir::client {
namespace {

Duration Sum(Duration a, Duration b) { return b > Duration::max() - a ? Duration::max() : a + b; }

// What is wrong with an answer, if anything is.
std::optional<Complaint> Flaw(const Value& value, const Command& command) {
  if (value.kind == Value::Kind::kError) return ReadComplaint(value.text);
  if (value.Field(command.expects) != nullptr) return std::nullopt;
  return Complaint{Code::kInternal, "an answer that is not understood"};
}

}  // namespace

Asker::Asker(const Options& options, Clock& clock, Tally& tally, Wire& wire)
    : timeout_(options.timeout),
      clock_(clock),
      tally_(tally),
      wire_(wire),
      servers_(options.addresses, options.probe_after, options.probe_after_most, clock, tally) {}

Heard Asker::Ask(const Command& command, std::string_view preferred, Duration patience) {
  const Duration deadline = Sum(clock_.Now(), timeout_);
  Complaint last{Code::kUnavailable, "no address has answered lately"};
  const std::vector<size_t> servers = servers_.ToAsk(preferred);
  for (size_t position = 0; position < servers.size(); ++position) {
    const size_t server = servers[position];
    const Duration left = deadline - clock_.Now();
    if (left <= Duration::zero() || !servers_.Begin(server)) continue;
    Answer answer;
    std::optional<Complaint> flaw;
    try {
      answer =
          Call(server, command, left / static_cast<int64_t>(servers.size() - position), patience);
      flaw = Flaw(answer.value, command);
    } catch (const Failure& failure) {
      flaw = {failure.code(), failure.message()};
    } catch (...) {
      servers_.Abandoned(server);
      throw;
    }
    if (!flaw || flaw->of_weir) {
      servers_.Succeeded(server);
    } else {
      servers_.Failed(server);
    }
    if (!flaw) {
      if (position > 0) tally_.Add(&Counters::failovers);
      return {std::move(answer.value), std::move(answer.session), servers_.address(server)};
    }
    tally_.Add(flaw->of_client ? &Counters::client_errors : &Counters::server_errors);
    if (flaw->of_client) throw Error(flaw->code, flaw->message);
    last = *std::move(flaw);
  }
  throw Unavailable(last.code, last.message);
}

Answer Asker::Call(size_t server, const Command& command, Duration share, Duration patience) {
  const std::string& address = servers_.address(server);
  const Duration until = Sum(clock_.Now(), share);
  if (patience > Duration::zero()) wire_.Ask({address, {"PING"}, share});
  return wire_.Ask({address, command.words, Sum(until - clock_.Now(), patience), command.place});
}

Value Asker::AskSession(const std::shared_ptr<Session>& session, const Command& command) {
  std::optional<Complaint> flaw;
  try {
    Answer answer =
        wire_.Ask({session->address(), command.words, timeout_, command.place, session});
    flaw = Flaw(answer.value, command);
    if (!flaw) return std::move(answer.value);
  } catch (const Failure& failure) {
    flaw = {failure.code(), failure.message()};
  }
  if (!session->alive()) throw HoldLost();
  if (flaw->of_client) throw Error(flaw->code, flaw->message);
  throw Unavailable(flaw->code, flaw->message);
}

}  // namespace weir::client

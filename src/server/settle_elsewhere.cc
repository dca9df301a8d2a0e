#include "server/settle_elsewhere.h"

#include <array>
#include <cstring>

namespace weir {
namespace {

constexpr size_t kMostMessage = 500;

template <size_t N>
void Append(const std::array<uint64_t, N>& words, std::string& out) {
  out.append(reinterpret_cast<const char*>(words.data()), sizeof words);
}
template <size_t N>
bool Read(std::string_view bytes, std::array<uint64_t, N>& words) {
  if (bytes.size() != sizeof words) return false;
  std::memcpy(words.data(), bytes.data(), sizeof words);
  return true;
}

std::string WriteAnswer(const Result<Settled>& settled) {
  if (!settled) {
    const Error& error = settled.error();
    return static_cast<char>(error.code) + error.message.substr(0, kMostMessage);
  }
  std::string out(1, static_cast<char>(Code::kOk));
  Append(std::array{settled->charged, settled->remaining}, out);
  return out;
}

// What another node says about a ticket. It may be newer, and have more codes.
Result<Settled> ReadAnswer(std::string_view text) {
  if (text.empty()) return Error{Code::kUnavailable, "the ticket's node settles for nobody", ""};
  const auto code = static_cast<Code>(text.front());
  text.remove_prefix(1);
  std::array<uint64_t, 2> words{};
  if (code == Code::kOk && Read(text, words)) return Settled{words[0], words[1]};
  const bool expected = code == Code::kBadRequest || code == Code::kUnknownTicket;
  return Error{expected ? code : Code::kUnavailable, std::string(text), "ticket"};
}

}  // namespace

std::string SettleQuestion(const SettleRequest& request) {
  std::string out;
  Append(std::array{request.ticket.high, request.ticket.low, request.cost}, out);
  return out;
}

std::string SettleAnswer(Limiter& limiter, std::string_view question, Instant now) {
  std::array<uint64_t, 3> words{};
  if (!Read(question, words)) {
    return WriteAnswer(Error{Code::kUnavailable, "the ticket's node is of another version", ""});
  }
  return WriteAnswer(limiter.Settle({words[0], words[1]}, words[2], now));
}

Result<Settled> ReadSettleAnswer(const cluster::Node::Answer& answer) {
  using Outcome = cluster::Node::Answer::Outcome;
  const std::string node(answer.text);
  switch (answer.outcome) {
    case Outcome::kAnswered: return ReadAnswer(answer.text);
    case Outcome::kUnknownNode:
      return Error{Code::kUnknownTicket, "no node of this cluster has issued the ticket", "ticket"};
    case Outcome::kDeadNode:
      return Error{Code::kUnavailable, "node " + node + ", which issued the ticket, is not there",
                   "ticket"};
    case Outcome::kSilentNode:
      return Error{Code::kUnavailable,
                   "node " + node +
                       ", which issued the ticket, does not answer: it may have "
                       "settled it or not",
                   "ticket"};
    case Outcome::kTooMany: break;
  }
  return Error{Code::kOverloaded, "too many tickets of other nodes are being settled", ""};
}

}  // namespace weir

#include "server/settle_elsewhere.h"

#include <array>

namespace weir {
namespace {

constexpr size_t kMostMessage = 500;
constexpr uint8_t kVersion = 1;
constexpr uint8_t kSettle = 1, kSettleWithin = 2;  // kinds

// On the wire: a number is never given to another.
enum class Outcome : uint8_t {
  kSettled = 0,
  kBadRequest = 1,
  kUnknownTicket = 2,
  kUnavailable = 3,
};

Outcome OutcomeOf(Code code) {
  switch (code) {
    case Code::kBadRequest: return Outcome::kBadRequest;
    case Code::kUnknownTicket: return Outcome::kUnknownTicket;
    default: return Outcome::kUnavailable;
  }
}

// What a newer node may say beyond these is not known here.
Code CodeOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kBadRequest: return Code::kBadRequest;
    case Outcome::kUnknownTicket: return Code::kUnknownTicket;
    default: return Code::kUnavailable;
  }
}

template <size_t N>
void Append(const std::array<uint64_t, N>& words, std::string& out) {
  for (const uint64_t word : words) {
    for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>(word >> shift));
  }
}
// Takes them off the bytes.
template <size_t N>
bool Take(std::string_view& bytes, std::array<uint64_t, N>& words) {
  if (bytes.size() < sizeof words) return false;
  for (uint64_t& word : words) {
    for (size_t i = 0; i < sizeof word; ++i) word = word << 8 | static_cast<uint8_t>(bytes[i]);
    bytes.remove_prefix(sizeof word);
  }
  return true;
}
template <size_t N>
bool Read(std::string_view bytes, std::array<uint64_t, N>& words) {
  return Take(bytes, words) && bytes.empty();
}

bool ReadReach(std::string_view bytes, Reach& reach) {
  while (!bytes.empty()) {
    const size_t size = static_cast<uint8_t>(bytes[0]);
    if (size >= bytes.size()) return false;
    reach.namespaces.emplace_back(bytes.substr(1, size));
    bytes.remove_prefix(1 + size);
  }
  return true;
}

std::string Head(uint8_t what) { return {static_cast<char>(kVersion), static_cast<char>(what)}; }
// Of this version; its kind or outcome is in `what`.
bool TakeHead(std::string_view& bytes, uint8_t& what) {
  if (bytes.size() < 2 || static_cast<uint8_t>(bytes[0]) != kVersion) return false;
  what = static_cast<uint8_t>(bytes[1]);
  bytes.remove_prefix(2);
  return true;
}

std::string WriteAnswer(const Result<Settled>& settled) {
  if (!settled) {
    const Error& error = settled.error();
    return Head(static_cast<uint8_t>(OutcomeOf(error.code))) +
           error.message.substr(0, kMostMessage);
  }
  std::string out = Head(static_cast<uint8_t>(Outcome::kSettled));
  Append(std::array{settled->charged, settled->remaining}, out);
  return out;
}

// What another node says about a ticket.
Result<Settled> ReadAnswer(std::string_view text) {
  if (text.empty()) return Error{Code::kUnavailable, "the ticket's node settles for nobody", ""};
  uint8_t outcome = 0;
  std::array<uint64_t, 2> words{};
  if (!TakeHead(text, outcome)) {
    return Error{Code::kUnavailable, "the ticket's node is of another version", "ticket"};
  }
  if (outcome != static_cast<uint8_t>(Outcome::kSettled)) {
    return Error{CodeOf(static_cast<Outcome>(outcome)), std::string(text), "ticket"};
  }
  if (Read(text, words)) return Settled{words[0], words[1]};
  return Error{Code::kUnavailable, "the ticket's node has answered nonsense", "ticket"};
}

}  // namespace

std::optional<std::string> SettleQuestion(const SettleRequest& request) {
  const bool within = request.reach != nullptr && !request.reach->all;
  std::string out = Head(within ? kSettleWithin : kSettle);
  Append(std::array{request.ticket.high, request.ticket.low, request.cost}, out);
  if (!within) return out;
  for (const std::string& ns : request.reach->namespaces) {
    if (ns.size() > UINT8_MAX) continue;  // there is none of such a name
    out.push_back(static_cast<char>(ns.size()));
    out += ns;
  }
  if (out.size() > cluster::Questions::kMostBytes) return std::nullopt;
  return out;
}

std::string SettleAnswer(Limiter& limiter, std::string_view question, Instant now) {
  std::array<uint64_t, 3> words{};
  uint8_t kind = 0;
  Reach reach{.all = true};
  bool read = TakeHead(question, kind) && Take(question, words);
  if (kind == kSettleWithin) {
    reach.all = false;
    read = read && ReadReach(question, reach);
  } else {
    read = read && kind == kSettle && question.empty();
  }
  if (!read) {
    return WriteAnswer(Error{Code::kUnavailable, "the ticket's node is of another version", ""});
  }
  return WriteAnswer(limiter.Settle({words[0], words[1]}, words[2], now, &reach));
}

Result<Settled> ReadSettleAnswer(const cluster::Node::Answer& answer) {
  using Outcome = cluster::Node::Answer::Outcome;  // of the question, not of the settlement
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

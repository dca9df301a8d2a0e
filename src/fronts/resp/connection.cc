#include "fronts/resp/connection.h"

#include <array>

#include "fronts/access.h"
#include "fronts/letters.h"
#include "fronts/resp/decision_reply.h"

namespace weir::resp {
namespace {

constexpr size_t kBatch = 16;
constexpr size_t kAny = kMostArguments;
constexpr size_t kMostShown = 128;  // of what a client sent, in an error

}  // namespace

struct Connection::Row {
  std::string_view name;  // in small letters
  size_t least, most;     // words, the name among them
  // Null: WEIR.REQUEST, which is batched.
  void (Connection::*carry)(const Words&, const Turn&);
  bool before_login = false;
  bool ours = false;  // not a command of Redis: mistakes are BAD_REQUEST
};

// What a read needs and no connection has to keep: one for each thread.
struct Connection::Scratch {
  Words words;
  size_t waiting = 0;
  std::array<Request, kBatch> requests;
  std::array<Decision, kBatch> decisions;
};

Connection::Scratch& Connection::ThreadScratch() {
  thread_local Scratch scratch;
  return scratch;
}

const Connection::Row* Connection::Find(std::string_view name) {
  // The frequent ones first.
  static constexpr Row kTable[] = {
      {"weir.request", 4, 9, nullptr, false, true},
      {"cl.throttle", 5, 6, &Connection::Throttle, false, true},
      {"weir.peek", 4, 9, &Connection::Peek, false, true},
      {"weir.settle", 3, 3, &Connection::Settle, false, true},
      {"weir.reserve", 4, 13, &Connection::Reserve, false, true},
      {"weir.release", 2, 4, &Connection::Release, false, true},
      {"weir.transfer", 4, 6, &Connection::Transfer, false, true},
      {"weir.seize", 2, 2, &Connection::Seize, false, true},
      {"ping", 1, 2, &Connection::Ping},
      {"echo", 2, 2, &Connection::Echo},
      {"hello", 1, 8, &Connection::Hello, true},
      {"auth", 2, 3, &Connection::Auth, true},
      {"select", 2, 2, &Connection::Select},
      {"client", 2, kAny, &Connection::Client},
      {"command", 1, kAny, &Connection::CommandTable},
      {"info", 1, kAny, &Connection::Info},
      {"config", 2, kAny, &Connection::Config},
      {"quit", 1, kAny, &Connection::Quit, true},
      {"reset", 1, 1, &Connection::Reset, true},
      {"post", 1, kAny, &Connection::Stranger, true},
      {"host:", 1, kAny, &Connection::Stranger, true},
  };
  for (const Row& row : kTable) {
    if (IsWord(name, row.name)) return &row;
  }
  return nullptr;
}

Connection::Connection(Link& link, Limiter& limiter, const RespOptions& options, uint64_t id)
    : link_(link),
      limiter_(limiter),
      options_(options),
      id_(id),
      reach_(StrangersReach()),
      way_back_(WayBack::To(link)) {}

size_t Connection::Receive(std::string_view in, const Turn& now) {
  Scratch& scratch = ThreadScratch();
  LookAtPasswordAgain();
  size_t used = 0;
  while (!done_ && !waiting_ && used < in.size() && !link_.full()) {
    const Parsed parsed = parser_.Next(in.substr(used), scratch.words, link_.most_unread());
    if (parsed.outcome == Outcome::kIncomplete) break;
    if (parsed.outcome == Outcome::kBroken) {
      DecideBatch(now, scratch);
      Answer().Error("ERR Protocol error:", parsed.error);
      done_ = true;
      break;
    }
    used += parsed.used;
    if (!scratch.words.empty()) Carry(scratch.words, parsed.copied, now, scratch);
  }
  DecideBatch(now, scratch);
  if (done_) used = in.size();
  partial_ = used < in.size();
  return used;
}

void Connection::Carry(const Words& words, bool copied, const Turn& now, Scratch& scratch) {
  const Row* const row = Find(words[0]);
  const bool good = row != nullptr && words.size() >= row->least && words.size() <= row->most &&
                    (open() || row->before_login);
  if (good && open()) link_.Trust();
  if (good && row->carry == nullptr) return AddToBatch(words, copied, now, scratch);
  DecideBatch(now, scratch);
  if (!good) return Refuse(row, words);
  (this->*row->carry)(words, now);
}

void Connection::AddToBatch(const Words& words, bool copied, const Turn& now, Scratch& scratch) {
  Request& request = scratch.requests[scratch.waiting];
  if (const Mistake mistake = ReadRequest(words, request)) {
    DecideBatch(now, scratch);
    return WriteMistake(mistake);
  }
  if (!reach_->Has(request.namespace_name)) [[unlikely]] {
    DecideBatch(now, scratch);
    return Answer().Error(Code::kForbidden, kNotThisNamespace);
  }
  ++scratch.waiting;
  if (copied || scratch.waiting == kBatch) DecideBatch(now, scratch);
}

void Connection::DecideBatch(const Turn& now, Scratch& scratch) {
  const size_t n = scratch.waiting;
  if (n == 0) return;
  scratch.waiting = 0;
  if (n == 1) {
    limiter_.Decide(scratch.requests[0], now, scratch.decisions[0]);
  } else {
    limiter_.DecideBatch(std::span(scratch.requests).first(n), now,
                         std::span(scratch.decisions).first(n));
  }
  Reply reply = Answer();
  for (size_t i = 0; i < n; ++i) WriteDecision(scratch.decisions[i], reply);
}

void Connection::WriteMistake(const Mistake& mistake) {
  std::string message(mistake.field);
  if (!message.empty()) message += ' ';
  Answer().Error(Code::kBadRequest, message.append(mistake.what));
}

bool Connection::RefuseNamespace(std::string_view ns) {
  if (reach_->Has(ns)) return false;
  Answer().Error(Code::kForbidden, kNotThisNamespace);
  return true;
}

void Connection::Refuse(const Row* row, const Words& words) {
  if (!open() && (row == nullptr || !row->before_login)) {
    return Answer().Error("NOAUTH", "Authentication required.");
  }
  if (row != nullptr) {
    std::string message = "wrong number of arguments for '";
    message.append(row->name).append("' command");
    return Answer().Error(row->ours ? RespCode(Code::kBadRequest) : "ERR", message);
  }
  std::string message = "unknown command '";
  message.append(words[0].substr(0, kMostShown)).append("', with args beginning with: ");
  for (size_t i = 1; i < words.size() && message.size() < 2 * kMostShown; ++i) {
    message.append("'").append(words[i].substr(0, kMostShown)).append("' ");
  }
  Answer().Error("ERR", message);
}

}  // namespace weir::resp

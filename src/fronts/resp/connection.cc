#include "fronts/resp/connection.h"

#include <array>

#include "fronts/letters.h"
#include "fronts/resp/asked.h"
#include "fronts/resp/decision_reply.h"

namespace weir::resp {
namespace {

constexpr size_t kBatch = 16;
constexpr size_t kAny = kMostArguments;
constexpr size_t kMostShown = 128;  // of what a client sent, in an error

}  // namespace

struct Connection::Row {
  std::string_view name;                                 // in small letters
  size_t least, most;                                    // words, the name among them
  void (Connection::*carry)(const Words&, const Turn&);  // or
  Reader read;                                           // of those that are batched
  bool before_login = false;
  bool ours = false;  // not a command of Redis: mistakes are BAD_REQUEST
};

// What a read needs and no connection has to keep: one for each thread.
struct Connection::Scratch {
  Words words;
  size_t waiting = 0;
  std::array<std::unique_ptr<Asked>, kBatch> asked;  // each is used again, unless it has to wait

  Asked& Next() {
    if (asked[waiting] == nullptr) asked[waiting] = Asked::Pool().Take();
    return *asked[waiting];
  }
};

Connection::Scratch& Connection::ThreadScratch() {
  thread_local Scratch scratch;
  return scratch;
}

std::span<const Connection::Row> Connection::Table() {
  // The frequent ones first.
  static constexpr Row kTable[] = {
      {"weir.request", 4, 9, nullptr, &Connection::ReadRequestWords, false, true},
      {"cl.throttle", 5, 6, nullptr, &Connection::ReadThrottleWords, false, true},
      {"weir.peek", 4, 9, nullptr, &Connection::ReadPeekWords, false, true},
      {"weir.settle", 3, 3, &Connection::Settle, nullptr, false, true},
      {"weir.reserve", 4, 13, &Connection::Reserve, nullptr, false, true},
      {"weir.release", 2, 4, &Connection::Release, nullptr, false, true},
      {"weir.transfer", 4, 6, &Connection::Transfer, nullptr, false, true},
      {"weir.seize", 2, 2, &Connection::Seize, nullptr, false, true},
      {"ping", 1, 2, &Connection::Ping, nullptr},
      {"echo", 2, 2, &Connection::Echo, nullptr},
      {"hello", 1, 8, &Connection::Hello, nullptr, true},
      {"auth", 2, 3, &Connection::Auth, nullptr, true},
      {"select", 2, 2, &Connection::Select, nullptr},
      {"client", 2, kAny, &Connection::Client, nullptr},
      {"command", 1, kAny, &Connection::CommandTable, nullptr},
      {"info", 1, kAny, &Connection::Info, nullptr},
      {"config", 2, kAny, &Connection::Config, nullptr},
      {"quit", 1, kAny, &Connection::Quit, nullptr, true},
      {"reset", 1, 1, &Connection::Reset, nullptr, true},
      {"post", 1, kAny, &Connection::Stranger, nullptr, true},
      {"host:", 1, kAny, &Connection::Stranger, nullptr, true},
  };
  return kTable;
}

const Connection::Row* Connection::Find(std::string_view name) {
  for (const Row& row : Table()) {
    if (IsWord(name, row.name)) return &row;
  }
  return nullptr;
}

std::vector<std::string_view> Connection::Commands() {
  std::vector<std::string_view> names;
  for (const Row& row : Table()) names.push_back(row.name);
  return names;
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
  LookAtPasswordAgain(now);
  size_t used = 0;
  while (!done_ && !answering() && used < in.size() && !link_.full()) {
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
  parser_.KeepLittle();
  if (done_) used = in.size();
  partial_ = used < in.size();
  return used;
}

void Connection::Carry(const Words& words, bool copied, const Turn& now, Scratch& scratch) {
  const Row* const row = Find(words[0]);
  const bool good = row != nullptr && words.size() >= row->least && words.size() <= row->most &&
                    (open() || row->before_login);
  if (good && open()) link_.Trust();
  if (good && row->read != nullptr) return AddToBatch(row->read, words, copied, now, scratch);
  DecideBatch(now, scratch);
  if (!good) return Refuse(row, words);
  (this->*row->carry)(words, now);
}

void Connection::AddToBatch(Reader read, const Words& words, bool copied, const Turn& now,
                            Scratch& scratch) {
  Asked& asked = scratch.Next();
  asked.home = &link_.executor();
  asked.reach = reach_;
  if (const Mistake mistake = (this->*read)(words, asked)) {
    DecideBatch(now, scratch);
    return WriteMistake(mistake);
  }
  ++scratch.waiting;
  if (copied || scratch.waiting == kBatch) DecideBatch(now, scratch);
}

void Connection::DecideBatch(const Turn& now, Scratch& scratch) {
  const size_t n = scratch.waiting;
  if (n == 0) return;
  scratch.waiting = 0;
  std::array<DecideCall*, kBatch> calls;
  for (size_t i = 0; i < n; ++i) calls[i] = scratch.asked[i].get();
  const bool some_wait = n == 1 ? limiter_.Decide(*calls[0], now) == When::kLater
                                : limiter_.Decide(std::span(calls).first(n), now) > 0;
  Reply reply = Answer();
  for (size_t i = 0; i < n; ++i) {
    if (some_wait && calls[i]->waits()) [[unlikely]] {
      scratch.asked[i].release()->WaitIn(*this);
    } else {
      scratch.asked[i]->Write(some_wait ? Answer() : reply);
    }
  }
}

void Connection::WriteMistake(const Mistake& mistake) {
  std::string message(mistake.field);
  if (!message.empty()) message += ' ';
  Answer().Error(Code::kBadRequest, message.append(mistake.what));
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

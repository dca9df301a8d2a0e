#include "clients/cpp/src/resp_wire.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace weir::client {
namespace {

constexpr ptrdiff_t kMostIdle = 16;

Duration DeadlineIn(Duration timeout) {
  const Duration now = Clock::System()->Now();
  return timeout > Duration::max() - now ? Duration::max() : now + timeout;
}

// To a token that it did not ask for.
bool IsOpenToAll(const Value& error) {
  return error.text.find("without any password configured") != std::string::npos;
}

std::optional<TlsContext> Context(const std::optional<TlsOptions>& options) {
  if (!options) return std::nullopt;
  return TlsContext(*options);
}

}  // namespace

RespWire::RespWire(std::string token, const std::optional<TlsOptions>& tls)
    : token_(std::move(token)), tls_(Context(tls)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

RespWire::~RespWire() {
  Close();
  close(wake_);
}

Answer RespWire::Ask(const Question& question) {
  const Duration deadline = DeadlineIn(question.timeout);
  const LinePtr line = question.session ? TakeThat(*question.session, deadline) : Take(question);
  try {
    if (std::optional<Value> error = Open(*line, deadline)) {
      PutBack(line, true);
      return {*std::move(error)};
    }
    const bool held = question.place != Place::kAnywhere;
    Answer answer{line->connection->Ask(question.words, deadline, held)};
    if (held) answer.session = question.session ? question.session : Keep(line);
    PutBack(line, false);
    return answer;
  } catch (const Failure& failure) {
    PutBack(line, failure.code() != Code::kDeadlineExceeded);
    throw;
  } catch (...) {
    PutBack(line, true);
    throw;
  }
}

RespWire::LinePtr RespWire::Take(const Question& question) {
  std::vector<LinePtr> ended;
  LinePtr line;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) throw Failure(Code::kUnavailable, "the client is closed");
    line = FindFree(question, ended);
    if (!line) line = lines_.emplace_back(std::make_shared<Line>(question.address));
    line->busy = true;
  }
  for (const LinePtr& one : ended) one->connection->End();
  return line;
}

RespWire::LinePtr RespWire::FindFree(const Question& question, std::vector<LinePtr>& ended) {
  const bool wants_held = question.place == Place::kSession;
  LinePtr best;
  for (const LinePtr& line : lines_) {
    if (line->busy || line->address != question.address || line->connection->owes()) continue;
    const bool held = line->keepers > 0;
    if ((held && !wants_held) || (best && !held)) continue;
    if (line->connection->HungUp()) {
      ended.push_back(line);
      continue;
    }
    best = line;
    if (held == wants_held) break;
  }
  for (const LinePtr& line : ended) Remove(line);
  return best;
}

RespWire::LinePtr RespWire::TakeThat(const Session& session, Duration deadline) {
  std::unique_lock lock(mutex_);
  const auto found = std::find_if(lines_.begin(), lines_.end(), [&](const LinePtr& line) {
    return line->connection.get() == &session;
  });
  if (found == lines_.end()) throw Failure(Code::kUnavailable, "the connection has ended");
  const LinePtr line = *found;
  const Duration left = std::max(Duration::zero(), deadline - Clock::System()->Now());
  if (!freed_.wait_for(lock, left, [&] { return !line->busy || line->gone; })) {
    throw Failure(Code::kDeadlineExceeded, "the connection is busy");
  }
  if (line->gone) throw Failure(Code::kUnavailable, "the connection has ended");
  line->busy = true;
  return line;
}

std::optional<Value> RespWire::Open(Line& line, Duration deadline) {
  if (line.connection) return std::nullopt;
  const auto connection =
      std::make_shared<Connection>(line.address, tls_ ? &*tls_ : nullptr, deadline);
  {
    const std::lock_guard lock(mutex_);
    line.connection = connection;
  }
  if (token_.empty()) return std::nullopt;
  Value answer = connection->Ask({"AUTH", token_}, deadline, false);
  if (answer.kind != Value::Kind::kError || IsOpenToAll(answer)) return std::nullopt;
  return answer;
}

std::shared_ptr<Session> RespWire::Keep(const LinePtr& line) const {
  ++line->keepers;
  return {line->connection.get(), [line](Session*) { --line->keepers; }};
}

void RespWire::PutBack(const LinePtr& line, bool broken) {
  bool keep = false;
  {
    const std::lock_guard lock(mutex_);
    line->busy = false;
    keep = !broken && !line->gone && IsWorthKeeping(*line);
    if (!keep) {
      Remove(line);
    } else if (line->keepers > 0 && (!line->watched || line->connection->owes())) {
      StartToWatch(*line);
    }
  }
  freed_.notify_all();
  if (keep || !line->connection) return;
  line->connection->Shut();
  line->connection->End();
}

bool RespWire::IsWorthKeeping(const Line& line) const {
  if (!line.connection) return false;
  if (line.keepers > 0) return true;
  if (line.connection->owes()) return false;
  return std::count_if(lines_.begin(), lines_.end(), [](const LinePtr& one) {
           return !one->busy && one->keepers == 0;
         }) <= kMostIdle;
}

void RespWire::Remove(const LinePtr& line) {
  line->gone = true;
  std::erase(lines_, line);
}

void RespWire::Close() {
  std::vector<LinePtr> lines;
  std::thread watcher;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    lines.swap(lines_);
    for (const LinePtr& line : lines) {
      line->gone = true;
      if (!line->connection) continue;
      line->connection->EndSilently();
      line->connection->Shut();
    }
    watcher.swap(watcher_);
  }
  freed_.notify_all();
  Wake();
  if (watcher.joinable()) watcher.join();
}

}  // namespace weir::client

#include "fronts/poolcounter/connection.h"

#include <algorithm>

#include "fronts/codes.h"
#include "fronts/number_word.h"
#include "fronts/numbers.h"

namespace weir::poolcounter {
namespace {

constexpr uint64_t kMostSeconds = uint64_t{1} << 32;

// Takes a word off the front; empty at the end.
std::string_view NextWord(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

// 0 where it is no number, as in the original.
uint64_t NextNumber(std::string_view& line) {
  const NumberWord number = ReadNumber(NextWord(line));
  return number.mistake.empty() ? number.value : 0;
}

}  // namespace

size_t Connection::Receive(std::string_view in, const Turn& now) {
  size_t used = 0;
  while (!done_ && !link_.full()) {
    const std::string_view rest = in.substr(used);
    const size_t end = rest.substr(0, kMostLine).find('\n');
    if (end == std::string_view::npos) {
      if (rest.size() < kMostLine) break;
      Say("ERROR BAD_SYNTAX");
      done_ = true;
      break;
    }
    std::string_view line = rest.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    Carry(line, now);
    used += end + 1;
  }
  if (done_) used = in.size();
  partial_ = used < in.size();
  return used;
}

void Connection::Carry(std::string_view line, const Turn& now) {
  constexpr std::string_view kForMe = "ACQ4ME ", kForAny = "ACQ4ANY ";
  if (line.starts_with(kForMe)) return Acquire(line.substr(kForMe.size()), false, now);
  if (line.starts_with(kForAny)) return Acquire(line.substr(kForAny.size()), true, now);
  if (line.starts_with("RELEASE")) return Release(now);
  // HTTP: the lines behind it may be commands, in the body that a web page has had its browser send.
  if (line.find(" HTTP/1.") != std::string_view::npos) done_ = true;
  Say("ERROR BAD_COMMAND");
}

void Connection::Acquire(std::string_view words, bool share, const Turn& now) {
  if (waiting_) return Say("ERROR WAIT_FOR_RESPONSE");
  if (session_) return Say("LOCK_HELD");
  PoolRequest request{.key = NextWord(words), .share = share};
  const uint64_t workers = NextNumber(words), most = NextNumber(words);
  const uint64_t seconds = std::min(NextNumber(words), kMostSeconds);
  if (request.key.empty() || workers == 0 || most == 0) return Say("ERROR BAD_SYNTAX");
  // Those who work are in the original's queue as well.
  request.workers = std::min(workers, most);
  request.max_queue = most - request.workers;
  request.wait = std::chrono::seconds(seconds);

  session_ = limiter_.OpenSession(kNever, now, link_.peer());
  waiting_ = true;
  late_ = false;
  ReserveOnThread(
      *way_back_, now, true,
      [&](ReserveDone done) { limiter_.ReservePool(session_, request, now, std::move(done)); },
      [this, number = ++asked_, may_queue = request.max_queue > 0](const Result<Reservation>& told,
                                                                   const Turn& later) {
        if (!waiting_ || number != asked_) return;
        waiting_ = false;
        Answer(told, may_queue);
        if (!told || !told->allowed) EndSession(later);
        if (late_) link_.Flush();
      });
  late_ = true;
}

void Connection::Answer(const Result<Reservation>& told, bool may_queue) {
  if (!told) {
    const Code code = told.error().code;
    return Say(code == Code::kBadRequest ? "ERROR BAD_SYNTAX"
                                         : "ERROR " + std::string(RespCode(code)));
  }
  switch (told->outcome) {
    case Outcome::kGranted: return Say("LOCKED");
    case Outcome::kDone: return Say("DONE");
    case Outcome::kQueueFull: return Say("QUEUE_FULL");
    case Outcome::kTimeout: return Say("TIMEOUT");
    case Outcome::kRefused: return Say(may_queue ? "TIMEOUT" : "QUEUE_FULL");  // had no patience
  }
}

void Connection::Release(const Turn& now) {
  if (!session_) return Say("NOT_LOCKED");
  EndSession(now);
  Say("RELEASED");
}

void Connection::EndSession(const Turn& now) {
  waiting_ = false;
  if (session_) limiter_.EndSession(session_, now);
  session_ = {};
}

void Connection::Closed(const Turn& now) {
  way_back_->Close();
  EndSession(now);
}

}  // namespace weir::poolcounter

#include "tests/e2e/holder.h"

#include <poll.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "tests/e2e/hold_session.h"

namespace weir::e2e {
namespace {

using Millis = std::chrono::milliseconds;

class RandomHolder {
 public:
  RandomHolder(const Holder& who, Beliefs& beliefs)
      : who_(who), beliefs_(beliefs), random_(who.seed) {}

  [[noreturn]] void Run() {
    while (true) {
      Idle(Millis(5));
      if (!Connect()) continue;
      while (Step()) {
      }
      beliefs_.LoseAll(who_.client);
      holds_.clear();
      session_.reset();
    }
  }

 private:
  struct Held {
    int belief;
    std::string hold;
    uint64_t copies;
  };

  uint64_t Roll(uint64_t from, uint64_t to) {
    return std::uniform_int_distribution<uint64_t>(from, to)(random_);
  }
  Millis Time(uint64_t most) { return Millis(Roll(0, most)); }
  void Idle(Millis time) {
    if (!WaitForEndOfTest(who_.end_of_test, time)) _exit(0);
  }

  bool Connect() {
    generation_ = beliefs_.Generation();
    if (generation_ % 2 != 0) return false;
    const auto asked = Clock::now();
    if (who_.over_http) {
      ttl_ = kSessionTimeout;  // the shortest that there is
      session_ = HoldSession::OverHttp(who_.http_port, ttl_);
      until_ = asked + Surely(ttl_);
    } else {
      session_ = HoldSession::OverResp(who_.resp_port);
    }
    return session_ != nullptr;
  }

  // False: the session is lost.
  bool Step() {
    switch (Roll(0, 9)) {
      case 0:
      case 1:
      case 2:
      case 3: return holds_.size() < 3 ? Reserve() : Release();
      case 4:
      case 5: return holds_.empty() || Release();
      case 6: return holds_.empty() || Transfer();
      case 7: return Seize();
      case 8: return Renew();
      default: Idle(Time(Roll(0, dull_ ? 3 : 49) == 0 ? 1300 : 5)); return true;
    }
  }

  // An error is in order only when the session may have ended.
  bool Lost(const HoldAnswer& answer) {
    if (answer.kind != HoldAnswer::kError || Clock::now() >= until_) return false;
    if (beliefs_.Generation() == generation_) beliefs_.Broken(who_.client, answer.text);
    return false;
  }

  void CheckNumbers(const HoldAnswer& answer) {
    if (answer.greatest > kTotal) beliefs_.Broken(who_.client, "too great: " + answer.text);
  }

  bool Reserve() {
    const size_t subject = Roll(0, kSubjects.size() - 1);
    const uint64_t copies = Roll(1, kPerSubject);
    const HoldAnswer answer = session_->Reserve(kSubjects[subject], copies, Roll(1, copies),
                                                Roll(0, 1) == 0 ? Millis(0) : Time(50));
    CheckNumbers(answer);
    if (answer.kind == HoldAnswer::kNo) {
      Idle(Time(3));
      return true;
    }
    if (answer.kind != HoldAnswer::kYes) return Lost(answer);
    const std::optional<int> belief =
        beliefs_.Grant(who_.client, generation_, subject, answer.copies, until_);
    if (belief) holds_.push_back({*belief, answer.name, answer.copies});
    return belief.has_value();
  }

  bool Release() {
    const size_t which = Roll(0, holds_.size() - 1);
    const std::string hold = holds_[which].hold;
    const uint64_t copies = Roll(1, holds_[which].copies);
    const uint64_t left = holds_[which].copies - copies;
    beliefs_.Release(holds_[which].belief, copies);
    Shrink(which, copies);
    const HoldAnswer answer = session_->Release(hold, copies);
    if (answer.kind != HoldAnswer::kYes) return Lost(answer);
    if (answer.copies != left) beliefs_.Broken(who_.client, "wrongly left: " + answer.text);
    return true;
  }

  bool Transfer() {
    const size_t which = Roll(0, holds_.size() - 1);
    const uint64_t copies = Roll(1, holds_[which].copies);
    const Millis ttl(Roll(50, 1000));
    const auto asked = Clock::now();
    const HoldAnswer answer = session_->Transfer(holds_[which].hold, copies, ttl);
    if (answer.kind != HoldAnswer::kYes) return Lost(answer);
    beliefs_.Stage(holds_[which].belief, copies, answer.name, asked + Surely(ttl));
    Shrink(which, copies);
    return true;
  }

  bool Seize() {
    const std::optional<Beliefs::Transfer> transfer =
        beliefs_.PickTransfer(who_.client, generation_);
    if (!transfer) return true;
    const HoldAnswer answer = session_->Seize(transfer->name);
    if (answer.text.find("unknown_transfer") != std::string::npos ||
        answer.text.starts_with("-UNKNOWN_TRANSFER")) {
      beliefs_.NotSeized(transfer->belief);
      return true;
    }
    if (answer.kind != HoldAnswer::kYes) return Lost(answer);
    holds_.push_back({transfer->belief, answer.name, answer.copies});
    return beliefs_.Seized(transfer->belief, answer.subject, answer.copies, until_);
  }

  bool Renew() {
    const auto asked = Clock::now();
    const HoldAnswer answer = session_->Renew();
    if (answer.kind != HoldAnswer::kYes) return Lost(answer);
    if (who_.over_http) until_ = asked + Surely(ttl_);
    beliefs_.Renew(who_.client, generation_, until_);
    return true;
  }

  void Shrink(size_t which, uint64_t copies) {
    holds_[which].copies -= copies;
    if (holds_[which].copies == 0) holds_.erase(holds_.begin() + static_cast<ptrdiff_t>(which));
  }

  const Holder who_;
  Beliefs& beliefs_;
  std::mt19937_64 random_;
  const bool dull_ = Roll(0, 2) == 0;  // looks seldom, and is late to notice what has happened
  std::unique_ptr<HoldSession> session_;
  uint64_t generation_ = 0;
  Millis ttl_{};
  Clock::time_point until_ = Clock::time_point::max();  // the session surely lives
  std::vector<Held> holds_;
};

}  // namespace

void RunHolder(const Holder& who, Beliefs& beliefs) { RandomHolder(who, beliefs).Run(); }

bool WaitForEndOfTest(int end_of_test, std::chrono::milliseconds time) {
  pollfd waiting{end_of_test, POLLIN, 0};
  return poll(&waiting, 1, static_cast<int>(time.count())) == 0;
}

}  // namespace weir::e2e

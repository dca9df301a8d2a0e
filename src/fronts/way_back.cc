#include "fronts/way_back.h"

#include <optional>

namespace weir {
namespace {

// A reservation that was asked for. Either the limiter is first, with its answer, or the one who
// asked, having returned from asking.
class Asked {
 public:
  Asked(WayBack& way, ReserveDone answer, ReserveDone gone)
      : way_(way.shared_from_this()), answer_(std::move(answer)), gone_(std::move(gone)) {}
  ~Asked() {
    if (!told_) Send(Error{Code::kNotHeld, "the session has ended", "session"});
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  void Tell(const Result<Reservation>& told) {
    {
      const std::lock_guard lock(mutex_);
      told_ = true;
      if (!returned_) {
        early_ = told;
        return;
      }
    }
    Send(told);
  }

  // False: the answer is not there yet.
  bool Return() {
    {
      const std::lock_guard lock(mutex_);
      returned_ = true;
      if (!early_) return false;
    }
    answer_(*early_);
    return true;
  }

 private:
  void Send(const Result<Reservation>& told) {
    way_->Post([answer = answer_, told] { answer(told); },
               [gone = gone_, told] {
                 if (gone) gone(told);
               });
  }

  const std::shared_ptr<WayBack> way_;
  const ReserveDone answer_, gone_;
  std::mutex mutex_;
  // Guarded by mutex_:
  bool returned_ = false;
  bool told_ = false;
  std::optional<Result<Reservation>> early_;  // does not change once it has returned
};

}  // namespace

bool WayBack::open() {
  const std::lock_guard lock(mutex_);
  return link_ != nullptr;
}

void WayBack::Close() {
  const std::lock_guard lock(mutex_);
  link_ = nullptr;
}

void WayBack::Post(std::function<void()> work, std::function<void()> gone) {
  {
    const std::lock_guard lock(mutex_);
    if (link_ != nullptr) {
      link_->Post([way = shared_from_this(), work = std::move(work), gone = std::move(gone)] {
        way->open() ? work() : gone();
      });
      return;
    }
  }
  gone();
}

bool ReserveOnThread(WayBack& way, bool may_wait, const std::function<void(ReserveDone)>& reserve,
                     ReserveDone answer, ReserveDone gone) {
  if (!may_wait) {
    reserve(std::move(answer));
    return true;
  }
  const auto asked = std::make_shared<Asked>(way, std::move(answer), std::move(gone));
  reserve([asked](const Result<Reservation>& told) { asked->Tell(told); });
  return asked->Return();
}

}  // namespace weir

#include "fronts/way_back.h"

#include <optional>

#include "limiter/beyond_reach.h"

namespace weir {
namespace {

// Something that the limiter was asked for. Either it is first, with its answer, or the one who asked,
// having returned from asking.
template <typename T>
class Asked {
 public:
  using Done = std::function<void(const Result<T>&)>;
  using Told = std::function<void(const Result<T>&, const Turn&)>;

  // `forgotten`: what is answered if nobody does.
  Asked(WayBack& way, Told answer, Told gone, Error forgotten)
      : way_(way.shared_from_this()),
        answer_(std::move(answer)),
        gone_(std::move(gone)),
        forgotten_(std::move(forgotten)) {}
  ~Asked() {
    if (!told_) Send(forgotten_);
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  void Tell(const Result<T>& told) {
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
  bool Return(const Turn& now) {
    {
      const std::lock_guard lock(mutex_);
      returned_ = true;
      if (!early_) return false;
    }
    answer_(*early_, now);
    return true;
  }

 private:
  void Send(const Result<T>& told) {
    way_->Post([answer = answer_, told](const Turn& now) { answer(told, now); },
               [gone = gone_, told](const Turn& now) {
                 if (gone) gone(told, now);
               });
  }

  const std::shared_ptr<WayBack> way_;
  const Told answer_, gone_;
  const Error forgotten_;
  std::mutex mutex_;
  // Guarded by mutex_:
  bool returned_ = false;
  bool told_ = false;
  std::optional<Result<T>> early_;  // does not change once it has returned
};

template <typename T>
bool AskOnThread(WayBack& way, const Turn& now, bool may_wait,
                 const std::function<void(typename Asked<T>::Done)>& ask,
                 typename Asked<T>::Told answer, typename Asked<T>::Told gone, Error forgotten) {
  if (!may_wait) {
    ask([&](const Result<T>& told) { answer(told, now); });
    return true;
  }
  const auto asked =
      std::make_shared<Asked<T>>(way, std::move(answer), std::move(gone), std::move(forgotten));
  ask([asked](const Result<T>& told) { asked->Tell(told); });
  return asked->Return(now);
}

}  // namespace

bool WayBack::open() {
  const std::lock_guard lock(mutex_);
  return link_ != nullptr;
}

void WayBack::Close() {
  const std::lock_guard lock(mutex_);
  link_ = nullptr;
}

void WayBack::Post(std::function<void(const Turn&)> work, std::function<void(const Turn&)> gone) {
  {
    const std::lock_guard lock(mutex_);
    if (link_ != nullptr) {
      link_->Post([way = shared_from_this(), work = std::move(work), gone = std::move(gone)](
                      const Turn& now) { way->open() ? work(now) : gone(now); });
      return;
    }
  }
  gone(Turn(clock_));
}

bool ReserveOnThread(WayBack& way, const Turn& now, bool may_wait,
                     const std::function<void(ReserveDone)>& reserve, ReserveTold answer,
                     ReserveTold gone) {
  return AskOnThread<Reservation>(way, now, may_wait, reserve, std::move(answer), std::move(gone),
                                  {Code::kNotHeld, "the session has ended", "session"});
}

Result<Reservation> IfReached(const Reach* reach, std::string_view ns,
                              const Result<Reservation>& told, Limiter& limiter,
                              const SessionId& session, const Turn& now) {
  if (reach != nullptr && reach->Has(ns)) return told;
  if (told && told->allowed) limiter.Release(session, told->hold, 0, now);
  if (reach != nullptr) return Error{Code::kForbidden, std::string(kNotThisNamespace), ""};
  return Error{Code::kUnauthenticated, "the token that this was asked with is not good any more",
               ""};
}

}  // namespace weir

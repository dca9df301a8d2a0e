#include "base/timers.h"

namespace weir {

void Timers::Put(size_t place, const Entry& entry) {
  heap_[place] = entry;
  entry.timer->place_ = place;
}

void Timers::Up(size_t place, const Entry& entry) {
  while (place > 0) {
    const size_t above = (place - 1) / 2;
    if (!(entry < heap_[above])) break;
    Put(place, heap_[above]);
    place = above;
  }
  Put(place, entry);
}

void Timers::Down(size_t place, const Entry& entry) {
  while (true) {
    size_t below = 2 * place + 1;
    if (below >= heap_.size()) break;
    if (below + 1 < heap_.size() && heap_[below + 1] < heap_[below]) ++below;
    if (!(heap_[below] < entry)) break;
    Put(place, heap_[below]);
    place = below;
  }
  Put(place, entry);
}

void Timers::Set(Timer& timer, Instant due) {
  Cancel(timer);
  const Entry entry{due, next_order_++, &timer};
  heap_.push_back(entry);
  Up(heap_.size() - 1, entry);
}

void Timers::Cancel(Timer& timer) {
  if (!timer.is_set()) return;
  const size_t place = timer.place_;
  timer.place_ = Timer::kNowhere;
  const Entry last = heap_.back();
  heap_.pop_back();
  if (last.timer == &timer) return;
  if (place > 0 && last < heap_[(place - 1) / 2]) {
    Up(place, last);
  } else {
    Down(place, last);
  }
}

void Timers::Run(const Turn& now) {
  while (!heap_.empty() && heap_.front().due <= now.at()) {
    Timer& timer = *heap_.front().timer;
    Cancel(timer);
    timer.Due(now);
  }
}

}  // namespace weir

// Calls that are kept for the next question: for each thread some that are free.
//
// A call that was answered at once is free again before the next is asked, so one is enough. One that
// waits is missing until it is answered, and then comes back.
#pragma once

#include <memory>
#include <vector>

namespace weir {

template <typename Call>
class CallPool {
 public:
  static constexpr size_t kMostKept = 1024;

  template <typename... Arguments>
  std::unique_ptr<Call> Take(Arguments&&... arguments) {
    if (free_.empty()) return std::make_unique<Call>(std::forward<Arguments>(arguments)...);
    std::unique_ptr<Call> call = std::move(free_.back());
    free_.pop_back();
    return call;
  }
  void GiveBack(std::unique_ptr<Call> call) {
    if (free_.size() < kMostKept) free_.push_back(std::move(call));
  }

 private:
  std::vector<std::unique_ptr<Call>> free_;
};

}  // namespace weir

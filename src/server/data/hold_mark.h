// Remembers over a crash whether copies were held: a server that starts again after one cannot know
// which of its clients still use what they held, and grants nothing until they must have noticed.
//
// A file in memory that the kernel keeps when the process is killed: a count that costs nothing to
// change. After a power failure, when it may be stale, holds are taken to have been outstanding.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "weir/error.h"

namespace weir {

class HoldMark {
 public:
  static Result<std::unique_ptr<HoldMark>> Open(const std::string& path);
  ~HoldMark();
  HoldMark(const HoldMark&) = delete;
  HoldMark& operator=(const HoldMark&) = delete;

  // Whether whoever ran before did not stop as it should, while copies were held; or did not live
  // until Recovered() after such an end.
  bool left_behind() const { return left_behind_; }
  // Whoever was left behind must have noticed by now.
  void Recovered() { page_->recovering.store(0); }
  // For the limiter to keep.
  std::atomic<uint64_t>* outstanding() { return &page_->outstanding; }
  // The server stops in order: nobody is left who thinks that he holds something.
  void StopInOrder();

 private:
  struct Page {
    char boot[40];  // of the machine: /proc/sys/kernel/random/boot_id
    std::atomic<uint64_t> running;
    std::atomic<uint64_t> outstanding;  // holds and transfers
    std::atomic<uint64_t> recovering;
  };
  explicit HoldMark(Page* page);

  Page* const page_;
  bool left_behind_ = false;
};

}  // namespace weir

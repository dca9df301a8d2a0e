#include "server/data/hold_mark.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/file_descriptor.h"

namespace weir {
namespace {

std::string ThisBoot() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  return boot;
}

}  // namespace

Result<std::unique_ptr<HoldMark>> HoldMark::Open(const std::string& path) {
  const auto failed = [&] {
    return Error{Code::kUnavailable, path + ": " + std::strerror(errno), ""};
  };
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file || ftruncate(file.get(), sizeof(Page)) != 0) return failed();
  // A page that the disk has no room for would end the process when it is first written to.
  if (const int error = posix_fallocate(file.get(), 0, sizeof(Page)); error != 0) {
    errno = error;
    return failed();
  }
  void* const memory =
      mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) return failed();
  return std::unique_ptr<HoldMark>(new HoldMark(static_cast<Page*>(memory)));
}

HoldMark::HoldMark(Page* page) : page_(page) {
  const std::string now = ThisBoot();
  page_->boot[sizeof page_->boot - 1] = '\0';
  const bool same_boot = now == page_->boot;
  const bool crashed = page_->running.load() != 0;
  left_behind_ =
      page_->recovering.load() != 0 || (crashed && (!same_boot || page_->outstanding.load() != 0));
  page_->recovering.store(left_behind_ ? 1 : 0);  // before the others: a kill may come in between
  std::memset(page_->boot, 0, sizeof page_->boot);
  std::memcpy(page_->boot, now.data(), std::min(now.size(), sizeof page_->boot - 1));
  page_->outstanding.store(0);
  page_->running.store(1);
  msync(page_, sizeof(Page), MS_SYNC);
}

void HoldMark::StopInOrder() {
  page_->running.store(0);
  msync(page_, sizeof(Page), MS_SYNC);
}

HoldMark::~HoldMark() { munmap(page_, sizeof(Page)); }

}  // namespace weir

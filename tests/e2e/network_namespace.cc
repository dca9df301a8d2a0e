#include "tests/e2e/network_namespace.h"

#include <gtest/gtest.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>

namespace weir::e2e {
namespace {

// In it one is root, and one's files are one's own.
bool Enter() {
  const std::string user = std::to_string(getuid()), group = std::to_string(getgid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " + user + " 1";
  std::ofstream("/proc/self/gid_map") << "0 " + group + " 1";
  return getuid() == 0;
}

int ExitCodeOf(const std::function<int()>& body) {
  std::cout.flush();
  const pid_t pid = fork();
  if (pid < 0) std::abort();
  if (pid == 0) {
    const int code = body();
    std::cout.flush();
    _exit(code);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

bool InOwnNetwork(const std::function<void()>& body) {
  return ExitCodeOf([&] {
           if (!Enter()) return 1;
           SetLoopback(true);
           body();
           return ::testing::Test::HasFailure() ? 1 : 0;
         }) == 0;
}

std::string WhyNoOwnNetwork() {
  const int error = ExitCodeOf([] { return Enter() ? 0 : errno; });
  return error == 0 ? "" : std::string("no network namespace can be made: ") + std::strerror(error);
}

void SetLoopback(bool up) {
  const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = up ? IFF_UP : 0;
  if (ioctl(any, SIOCSIFFLAGS, &request) != 0) std::abort();
  close(any);
}

}  // namespace weir::e2e

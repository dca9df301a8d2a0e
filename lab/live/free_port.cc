#include "lab/live/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace weir::lab {
namespace {

constexpr int kLowest = 10'000, kPorts = 20'000;

bool IsFree(int type, int port) {
  const int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  address.sin_port = htons(static_cast<uint16_t>(port));
  const bool free = bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return free;
}

}  // namespace

int FreePort() {
  // Each process begins elsewhere.
  static std::atomic<uint32_t> next = static_cast<uint32_t>(getpid()) * 31u;
  while (true) {
    const int port = kLowest + static_cast<int>(next++ % kPorts);
    if (IsFree(SOCK_STREAM, port) && IsFree(SOCK_DGRAM, port)) return port;
  }
}

}  // namespace weir::lab

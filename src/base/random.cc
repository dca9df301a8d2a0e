#include "base/random.h"

#include <sys/random.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace weir {

void FillUnguessable(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = getrandom(bytes.data(), bytes.size(), 0);
    if (got <= 0) {
      std::fputs("weir: the operating system gives no random bytes\n", stderr);
      std::abort();
    }
    bytes = bytes.subspan(static_cast<size_t>(got));
  }
}

uint64_t UnguessableWord() {
  thread_local std::array<uint64_t, 64> words;
  thread_local size_t left = 0;
  if (left == 0) {
    FillUnguessable(std::as_writable_bytes(std::span(words)));
    left = words.size();
  }
  return words[--left];
}

}  // namespace weir

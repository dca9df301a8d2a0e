// Takes commands out of the bytes of a Redis client, without copying them.
//
//   *2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n      an array of bulk strings
//   ECHO "h i"\r\n                        an inline command, as typed into a terminal
//
// Sizes are checked before anything is kept: what can never become a command is refused as soon as
// it says so. While a command is incomplete, the parser knows how many bytes it takes at least and
// does not look before they are there: a peer that sends single bytes costs no more than its bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/heap_bytes.h"
#include "fronts/protocol.h"

namespace weir::resp {

inline constexpr size_t kMostArguments = 1024;
inline constexpr size_t kMostBulk = size_t{512} << 10;
inline constexpr size_t kMostInline = size_t{64} << 10;
inline constexpr size_t kKeptUnquoted = 512;  // of memory, from one read to the next

using Words = std::vector<std::string_view>;

enum class Outcome {
  kIncomplete,  // more bytes are needed
  kCommand,     // `words` is a command; empty where the peer sent an empty one
  kBroken,      // not the protocol: `error` says why, and nothing behind it can be understood
};

struct Parsed {
  Outcome outcome = Outcome::kIncomplete;
  size_t used = 0;         // bytes of the command
  std::string_view error;  // of kBroken
  bool copied = false;     // words are views into the parser: valid until its next command
};

class CommandParser {
 public:
  // The command at the front of `in`. An incomplete one is to be offered again, from its beginning.
  // `most`: bytes of a command.
  Parsed Next(std::string_view in, Words& words, size_t most = kMostUnread);
  size_t bytes() const { return unquoted_.capacity(); }
  // Nobody looks at the last command any more.
  void KeepLittle() {
    if (unquoted_.capacity() > kKeptUnquoted) Release(unquoted_);
  }

 private:
  Parsed Array(std::string_view in, Words& words, size_t most);
  Parsed Inline(std::string_view in, Words& words, size_t most);

  size_t wanted_ = 0;     // of the incomplete command, at least
  std::string unquoted_;  // words of an inline command that were written in quotes
};

}  // namespace weir::resp

// A line of the little language that `weir try` and the scenario tests share, taken apart.
//
//   [@TIME] [request] NAMESPACE RESOURCE SUBJECT [COST] [min=N] [settle]
//   [@TIME] peek      NAMESPACE RESOURCE SUBJECT [COST] [min=N]
//   [@TIME] limits    NAMESPACE RESOURCE SUBJECT [COST] [min=N]     peek, with every limit
//   [@TIME] settle    TICKET COST                                   TICKET, HOLD: #1, or in full
//   [@TIME] reserve   NAMESPACE RESOURCE SUBJECT [COPIES] [min=N] [wait=DURATION]
//   [@TIME] release   HOLD [COPIES]
//   [@TIME] transfer  HOLD [COPIES] ttl=DURATION                    its answer is seized by:
//   [@TIME] seize     TRANSFER
//   [@TIME] repeat    N [every DURATION] LINE
//   at TIME    end SESSION    reload    help    quit
//
// Behind the time, `as SESSION` says whose holds the line is about: a client's, who loses them when
// his session ends. Without it they are those of a session that has no name.
//
// A word with spaces is put in "double quotes". What follows # at the beginning of a line, or a
// # with a space before and behind it, is a comment.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "weir/error.h"
#include "weir/instant.h"

namespace weir {

struct Command {
  enum class Verb {
    kNothing,  // empty, or only a time or a comment
    kRequest,
    kPeek,
    kLimits,
    kSettle,
    kReserve,
    kRelease,
    kTransfer,
    kSeize,
    kEnd,
    kReload,
    kHelp,
    kQuit,
  };

  Verb verb = Verb::kNothing;
  std::string time;  // as written, without the @; empty: as it is
  uint64_t repeat = 1;
  bool repeated = false;
  Duration every{};  // between two repetitions

  std::string namespace_name;
  std::string resource;
  std::string subject;
  std::string name;     // of the ticket, hold or transfer: "#1" or its digits
  std::string session;  // of a client
  uint64_t amount = 1;  // cost or copies; of release and transfer: 0 for all
  std::optional<uint64_t> least;
  Duration wait{};  // for copies
  Duration ttl{};   // of a transfer
  bool settle = false;
};

Result<Command> ParseCommand(std::string_view line);

}  // namespace weir

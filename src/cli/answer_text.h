// Answers as lines of text, in columns, for `weir try` and the scenario tests.
//
//   allowed  granted 1     remaining 9         retry -           reset 6s          limit burst
//   refused  granted 0     remaining 0         retry 6s          reset 1m          limit burst
#pragma once

#include <string>

#include "weir/decision.h"
#include "weir/error.h"
#include "weir/hold.h"

namespace weir {

struct AnswerStyle {
  bool colours = false;
  bool rounded = false;  // times up to whole milliseconds
};

// `ticket`: the number under which the ticket is known, 0 if there is none.
std::string DecisionText(const Decision& decision, size_t ticket, AnswerStyle style);
// One line for each limit that the request met.
std::string LimitsText(const Decision& decision, AnswerStyle style);
std::string ReservationText(const Reservation& reservation, size_t hold, AnswerStyle style);
std::string SeizedText(const Seized& seized, size_t hold);
std::string SettledText(const Settled& settled);
std::string ErrorText(Code code, std::string_view message, AnswerStyle style);

}  // namespace weir

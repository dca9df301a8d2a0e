// The WEIR.* commands: a question in words, and what its answer says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "weir/client/answers.h"
#include "weir/client/client.h"
#include "weir/client/wire.h"

namespace weir::client {

struct Target {
  std::string namespace_name, resource, subject;
};

struct Command {
  std::vector<std::string> words;
  std::string_view expects;  // a field that every good answer has
  Place place = Place::kAnywhere;
};

Command PeekCommand(const Target& target, const PeekOptions& options);
Command RequestCommand(const Target& target, const RequestOptions& options);
Command SettleCommand(const std::string& ticket, uint64_t cost);
Command ReserveCommand(const Target& target, const ReserveOptions& options, Duration wait);
Command ReleaseCommand(const std::string& hold, uint64_t copies);
Command TransferCommand(const std::string& hold, uint64_t copies, Duration time_to_live);
Command SeizeCommand(const std::string& transfer);

// Fields that are missing have their defaults: an older or newer server is understood.
Decision ReadDecision(const Value& value);
Settled ReadSettled(const Value& value);
Reservation ReadReservation(const Value& value);
struct Seized {
  Target target;
  Reservation reservation;
};
Seized ReadSeized(const Value& value);
std::string ReadTransfer(const Value& value);

// What an error that a server answered with means.
struct Complaint {
  Code code = Code::kInternal;
  std::string message;
  bool of_client = false;  // about the question itself
  bool of_weir = false;    // said by a Weir server: it answers, whatever is wrong with it
};
Complaint ReadComplaint(const std::string& text);

}  // namespace weir::client

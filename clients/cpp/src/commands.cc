#include "clients/cpp/src/commands.h"

#include <algorithm>

namespace weir::client {
namespace {

// Never less than the truth.
std::string Milliseconds(Duration time) {
  const int64_t whole = time / std::chrono::milliseconds(1);
  const bool more = time % std::chrono::milliseconds(1) > Duration::zero();
  return std::to_string(std::max<int64_t>(0, whole + (more ? 1 : 0)));
}

std::vector<std::string> Words(const char* name, const Target& target) {
  return {name, target.namespace_name, target.resource, target.subject};
}

void Append(std::vector<std::string>& words, const char* name, std::optional<uint64_t> number) {
  if (!number) return;
  words.emplace_back(name);
  words.push_back(std::to_string(*number));
}

}  // namespace

Command PeekCommand(const Target& target, const PeekOptions& options) {
  Command command{Words("WEIR.PEEK", target), "allowed"};
  Append(command.words, "COST", options.cost);
  Append(command.words, "MIN", options.min_cost);
  return command;
}

Command RequestCommand(const Target& target, const RequestOptions& options) {
  Command command{Words("WEIR.REQUEST", target), "allowed"};
  Append(command.words, "COST", options.cost);
  Append(command.words, "MIN", options.min_cost);
  if (options.settle) command.words.emplace_back("SETTLE");
  return command;
}

Command SettleCommand(const std::string& ticket, uint64_t cost) {
  return {{"WEIR.SETTLE", ticket, std::to_string(cost)}, "charged"};
}

Command ReserveCommand(const Target& target, const ReserveOptions& options, Duration wait) {
  Command command{Words("WEIR.RESERVE", target), "allowed", Place::kSession};
  Append(command.words, "COPIES", options.copies);
  Append(command.words, "MIN", options.min_copies);
  if (wait > Duration::zero()) {
    command.words.insert(command.words.end(), {"WAIT", Milliseconds(wait)});
    command.place = Place::kOwnSession;
  }
  Append(command.words, "QUEUE", options.max_queue);
  if (options.share) command.words.emplace_back("SHARE");
  return command;
}

Command ReleaseCommand(const std::string& hold, uint64_t copies) {
  return {{"WEIR.RELEASE", hold, "COPIES", std::to_string(copies)}, "copies", Place::kSession};
}

Command TransferCommand(const std::string& hold, uint64_t copies, Duration time_to_live) {
  return {
      {"WEIR.TRANSFER", hold, "COPIES", std::to_string(copies), "TTL", Milliseconds(time_to_live)},
      "transfer",
      Place::kSession};
}

Command SeizeCommand(const std::string& transfer) {
  return {{"WEIR.SEIZE", transfer}, "hold", Place::kSession};
}

}  // namespace weir::client

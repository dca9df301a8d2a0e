#include "tests/style/kept_instants.h"

#include <algorithm>
#include <regex>

namespace weir::style {
namespace {

bool IsListed(std::string_view path, std::string_view name) {
  const auto& list = KeptInstants();
  return std::any_of(list.begin(), list.end(), [&](const KeptInstant& kept) {
    return kept.path == path && kept.name == name;
  });
}

int LineOf(const std::string& text, std::ptrdiff_t at) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + at, '\n'));
}

}  // namespace

const std::vector<KeptInstant>& KeptInstants() {
  static const std::vector<KeptInstant> list = {
      // How long something has lasted: is subtracted from a turn's instant, and decides nothing.
      {"src/fronts/grpc/grpc_call.h", "begun", "how long a call has taken"},
      {"src/fronts/grpc/http2_session.h", "drain_began_", "how long a drain has taken"},
      {"src/fronts/grpc/frame_meter.h", "refilled_", "what a peer may send meanwhile"},
      {"src/fronts/grpc/frame_meter.h", "began_", "how long a frame has taken"},
      {"src/server/connections/connection.h", "last_active_", "which connection is the idlest"},
      {"src/server/connections/connection.h", "unread_since_", "how long a request has taken"},
      {"src/server/connections/connection.h", "accepted_", "how long a handshake has taken"},
      {"src/server/connections/connection.h", "blocked_since_", "how long a reader is deaf"},
      {"src/server/connections/connection.cc", "end", "how long a turn has taken"},
      {"src/net/loop.h", "next_tick_", "when the loop ticks"},
      {"src/net/loop.h", "turns_ended_", "how long the loop did something else"},
      {"src/net/rota.h", "at", "how long bytes have waited"},
      {"src/server/data/incarnation.cc", "kYear2020", "from which lives are numbered"},
      {"src/server/data/incarnation.cc", "quarter_over", "until when a new life keeps silent"},
      {"src/server/data/incarnation.h", "silent_until", "until when a new life keeps silent"},
      {"src/net/loop.h", "now_", "since when somebody has something to do"},
      {"src/net/loop.cc", "at", "how long turns have taken"},
      {"src/net/rota.h", "since_", "how long somebody has waited"},
      {"src/net/rota.h", "stretch_began_", "how much time somebody took lately"},
      {"src/fronts/grpc/grpc_call.h", "partial_since", "how long a message has taken"},
      {"src/fronts/grpc/grpc_call.h", "finished_at", "how long an answer is not read"},
      {"src/fronts/grpc/http2_session.cc", "at", "how long calls have taken"},
      {"src/server/config_service.h", "until", "when a waiter is answered"},
      {"src/server/config_service.h", "since", "how long work has been queued"},
      {"src/server/config_service.h", "looked_", "when the database is looked at"},
      {"src/server/config_service.cc", "now", "how long work has been queued"},
      {"src/server/server.h", "looked_", "when the files are looked at"},
      {"src/server/server.h", "copies_from_", "the end of the pause after a crash"},
      {"src/server/problems.h", "since", "since when something is wrong"},
      {"src/server/problems.cc", "now", "since when something is wrong"},
      {"src/server/problems.cc", "clock", "is told of problems on any thread"},
      {"src/server/data/state_keeper.h", "looked_", "when rows are looked at"},
      {"src/server/data/state_file.h", "at", "when a row was written, read from the file"},
      {"src/cli/serve_command.cc", "until", "the end of the drain"},
      // `weir try` has a limiter of its own and no loop.
      {"src/cli/interpreter.h", "start", "weir try"},
      {"src/cli/interpreter.h", "frozen_", "weir try"},
      {"src/cli/interpreter.h", "latest_", "weir try"},
      {"src/cli/interpreter.cc", "time", "weir try"},
      {"src/cli/interpreter.cc", "clock", "weir try"},
      {"src/cli/try_command.cc", "start", "weir try"},
      {"src/cli/try_command.cc", "clock", "weir try"},
      {"src/base/time_text.cc", "local", "the text of an instant"},
      // Who reads the clock: those who run something.
      {"src/net/loop.cc", "clock", "runs the loop"},
      {"src/server/connections/connection.cc", "clock", "reads, once for all that a read brought"},
      {"src/fronts/http/connection.h", "clock", "ends calls when it goes away itself"},
      {"src/fronts/resp/connection.h", "clock", "ends calls when it goes away itself"},
      {"src/fronts/way_back.cc", "clock", "runs what comes too late for its connection"},
      {"src/fronts/grpc/http2_session.cc", "clock", "ends calls when it goes away itself"},
      {"src/fronts/grpc/http2_session_answers.cc", "clock", "writes what is answered late"},
      {"src/server/config_service.cc", "clock", "a thread of its own"},
      {"src/server/data/state_keeper.cc", "clock", "a thread of its own"},
      {"src/server/server.cc", "clock", "starts, and installs rules that were slow to read"},
      {"src/cli/serve_command.cc", "clock", "the main thread's loop"},
      {"src/server/cluster_service.cc", "clock", "starts the node"},
      {"src/cli/config_command.cc", "clock", "a command of its own"},
      {"src/cli/top_command.cc", "clock", "a command of its own"},
      {"src/server/routes/report_thread.cc", "clock", "a thread of its own"},
  };
  return list;
}

Findings CheckKeptInstants(const SourceFile& file) {
  if (!StartsWith(file.path, "src/fronts/") && !StartsWith(file.path, "src/server/") &&
      !StartsWith(file.path, "src/net/")) {
    return {};
  }
  static const std::regex captures(R"(\[([^\[\]]*)\]\s*(\(|\{|mutable\b))");
  static const std::regex captured(R"((^|[\s,=&(.>])(now|turn|later|Instant)\b)");
  static const std::regex posted(R"(Post\(\s*\[&[\],])");
  static const std::regex kept(R"(\bInstant>?\s+(\w+)\s*(=[^=]|\{|;))");
  static const std::regex clock(R"((\.|->)Now\(\)|\bTurn(\s+\w+)?\([\w.>-]*[cC]lock)");
  const std::string code = CodeOnly(file.text);
  Findings findings;
  const auto each = [&](const std::regex& what, const auto& judge) {
    for (std::sregex_iterator it(code.begin(), code.end(), what), end; it != end; ++it) {
      const std::string fault = judge(*it);
      if (!fault.empty()) findings.push_back({file.path, LineOf(code, it->position()), fault});
    }
  };
  each(captures, [&](const std::smatch& match) -> std::string {
    const std::string list = match[1];
    if (!std::regex_search(list, captured)) return "";
    return "captures an instant: whoever runs later is given the turn in which it runs";
  });
  each(posted, [&](const std::smatch&) -> std::string {
    return "posts what refers to this turn: it is gone by then";
  });
  each(kept, [&](const std::smatch& match) -> std::string {
    if (IsListed(file.path, match[1].str())) return "";
    return "keeps an Instant (" + match[1].str() + "): it outlives its turn";
  });
  if (!IsListed(file.path, "clock")) {
    each(clock, [&](const std::smatch&) -> std::string {
      return "reads the clock: it is handed down by who runs the loop";
    });
  }
  return findings;
}

}  // namespace weir::style

#include "cli/reserve_command.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/file_descriptor.h"
#include "cli/resp_client.h"

namespace weir {
namespace {

constexpr int kExitError = 2;
std::string Millis(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

Result<RespValue> Ask(RespClient& client, const ReserveArguments& arguments, Duration wait) {
  const Duration deadline = wait > kNever - arguments.deadline ? kNever : wait + arguments.deadline;
  Result<RespValue> answer =
      client.Call({"WEIR.RESERVE", arguments.namespace_name, arguments.resource, arguments.subject,
                   "COPIES", std::to_string(arguments.copies), "WAIT", Millis(wait)},
                  deadline);
  if (answer && answer->Find("allowed") == nullptr) {
    return Error{Code::kUnavailable, "this is not a Weir server", ""};
  }
  return answer;
}

Result<RespValue> Reserve(RespClient& client, const ReserveArguments& arguments) {
  const Result<bool> connected = client.Connect(arguments.deadline);
  if (!connected) return connected.error();
  if (!arguments.token.empty()) {
    const Result<RespValue> known = client.Call({"AUTH", arguments.token}, arguments.deadline);
    if (!known) return known.error();
  }
  Result<RespValue> answer = Ask(client, arguments, arguments.wait);
  // Whoever has waited in vain is not told who holds: asked once more, he is, unless it is free now.
  if (answer && answer->TextOr("outcome", "") == "timeout") {
    return Ask(client, arguments, Duration::zero());
  }
  return answer;
}

// "refused by per_subject: ann holds 2 of 2; total: held are 8 of 8".
std::string Refusal(const ReserveArguments& arguments, const RespValue& answer) {
  std::string by, beside;
  const auto add = [&](const std::string& name, const std::string& who, const RespValue& from,
                       std::string_view limit_name, std::string_view held_name) {
    const int64_t limit = from.NumberOr(limit_name, INT64_MAX), held = from.NumberOr(held_name, 0);
    if (limit == INT64_MAX) return;
    const bool full = held >= limit || static_cast<uint64_t>(limit - held) < arguments.copies;
    std::string& text = full ? by : beside;
    text += PlainFormat("{}{}: {} {} of {}", text.empty() ? "" : "; ", name, who, held, limit);
  };
  add("per_subject", arguments.subject + " holds", answer, "per_subject", "held");
  add("total", "held are", answer, "total", "held_total");
  if (const RespValue* const groups = answer.Find("groups")) {
    for (const RespValue& group : groups->items) {
      add("group " + group.TextOr("name", "?"), "held are", group, "limit", "held");
    }
  }
  if (!by.empty()) return "refused by " + by;
  const bool queue_full = answer.TextOr("outcome", "") == "queue_full";
  return PlainFormat("refused: {}{}{}",
                     queue_full ? "too many wait already" : "others wait for them already",
                     beside.empty() ? "" : "; ", beside);
}

[[noreturn]] void Become(const std::vector<std::string>& command, const sigset_t& signals) {
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // it must not go on without what is held for it
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  const int error = errno;
  const std::string why = PlainFormat("error: {}: {}\n", command[0], std::strerror(error));
  (void)!write(STDERR_FILENO, why.data(), why.size());
  _exit(error == ENOENT ? 127 : 126);
}

// Waits for the command, handing on the signals that are meant for it.
int Await(pid_t child, int signals, ClientStream& connection, Terminal& errors) {
  std::array<pollfd, 2> waiting = {pollfd{signals, POLLIN, 0}, pollfd{connection.fd(), POLLIN, 0}};
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    waiting[0].revents = waiting[1].revents = 0;
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    signalfd_siginfo info{};
    if (waiting[0].revents != 0 && read(signals, &info, sizeof info) == sizeof info) {
      // The terminal has sent SIGINT to the command as well.
      if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP) {
        kill(child, static_cast<int>(info.ssi_signo));
      }
    }
    if (waiting[1].revents == 0 || connection.Drain()) continue;
    errors.Print("warning: the server has gone, and nothing is held any more\n");
    errors.Flush();
    waiting[1].fd = -1;
  }
}

}  // namespace

int RunReserve(const ReserveArguments& arguments, Terminal& errors) {
  Result<ServerUrl> url = ServerUrl::Parse(arguments.resp, UrlKind::kRedis, arguments.tls.any());
  if (!url) {
    errors.Print("error: --resp: {}\n", url.error().message);
    return kExitError;
  }
  RespClient client(std::move(*url), arguments.tls);
  const Result<RespValue> answer = Reserve(client, arguments);
  if (!answer) {
    errors.Print("error: {} (from the Redis front at {}; --resp ADDRESS names another)\n",
                 answer.error().message, arguments.resp);
    return kExitError;
  }
  if (answer->NumberOr("allowed", 0) != 1) {
    errors.Print("{}\n", Refusal(arguments, *answer));
    return kExitRefused;
  }
  sigset_t watched, before;
  sigemptyset(&watched);
  for (const int signal : {SIGCHLD, SIGTERM, SIGHUP, SIGINT, SIGQUIT}) sigaddset(&watched, signal);
  sigprocmask(SIG_BLOCK, &watched, &before);
  const FileDescriptor signals(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  const pid_t child = fork();
  if (child == 0) Become(arguments.command, before);
  if (child < 0) {
    errors.Print("error: {}\n", std::strerror(errno));
    return kExitError;
  }
  return Await(child, signals.get(), client.stream(), errors);
}

}  // namespace weir

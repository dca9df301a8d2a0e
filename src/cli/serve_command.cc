#include "cli/serve_command.h"

#include <malloc.h>
#include <poll.h>
#include <sys/signalfd.h>

#include <csignal>

#include "base/time_text.h"
#include "server/plain_log.h"
#include "server/server.h"

namespace weir {
namespace {

constexpr int kTickMillis = 100;

// Signals as something to wait for. They must be blocked before the first thread starts.
class Signals {
 public:
  Signals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&wanted, signal);
    pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    fd_ = FileDescriptor(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  // The next signal, or 0 if none came within `millis`.
  int Wait(int millis) {
    pollfd waiting{fd_.get(), POLLIN, 0};
    if (poll(&waiting, 1, millis) <= 0) return 0;
    signalfd_siginfo info{};
    return read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo)
                                                              : 0;
  }

 private:
  FileDescriptor fd_;
};

void DrainAndStop(Server& server, SystemClock& clock, Signals& signals, Duration timeout) {
  server.Drain();
  const Instant until = clock.Now() + timeout;
  while (!server.drained() && clock.Now() < until) {
    const int signal = signals.Wait(kTickMillis);
    if (signal == SIGTERM || signal == SIGINT) break;  // twice: at once
    server.Tick(Turn(clock));
  }
  server.Stop();
}

}  // namespace

int RunServe(const Settings& settings) {
  // One heap for all threads: what one of them frees of the states is there for the others too. Decisions
  // on keys that exist allocate nothing, and small pieces come from each thread's own cache.
  mallopt(M_ARENA_MAX, 1);
  Signals signals;
  const auto log = MakeLog(settings.log_json, settings.log_level);
  SystemClock clock;
  Server server(settings, clock, log);
  if (!server.Start()) return server.name_taken() ? kExitNameTaken : 1;
  while (true) {
    const int signal = signals.Wait(kTickMillis);
    if (server.name_taken()) {  // whatever it would answer now, another answers too
      server.Stop();
      log->error("stopped: another node bears the name \"{}\"", settings.node);
      return kExitNameTaken;
    }
    if (signal == SIGTERM || signal == SIGINT) break;
    if (signal == SIGHUP) server.Reload();
    server.Tick(Turn(clock));
  }
  log->info("stopping: open requests have {} to end", SpokenDuration(settings.drain_timeout));
  DrainAndStop(server, clock, signals, settings.drain_timeout);
  log->info("stopped");
  return 0;
}

}  // namespace weir

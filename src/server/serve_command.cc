#include "server/serve_command.h"

#include <poll.h>
#include <sys/signalfd.h>

#include <csignal>

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "server/json_formatter.h"
#include "server/server.h"

namespace weir {
namespace {

constexpr int kTickMillis = 100;

std::shared_ptr<spdlog::logger> MakeLog(const Settings& settings) {
  auto log = settings.log_json ? spdlog::stderr_logger_mt("weir") : spdlog::stderr_color_mt("weir");
  log->set_level(spdlog::level::from_str(settings.log_level));
  if (settings.log_json) {
    log->set_formatter(std::make_unique<JsonFormatter>());
  } else {
    log->set_pattern("%Y-%m-%dT%H:%M:%S.%e %^%l%$ %v");
  }
  return log;
}

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
    server.Tick(clock.Now());
  }
  server.Stop();
}

}  // namespace

int RunServe(const Settings& settings) {
  Signals signals;
  const auto log = MakeLog(settings);
  SystemClock clock;
  Server server(settings, clock, log);
  if (!server.Start()) return 1;
  while (true) {
    const int signal = signals.Wait(kTickMillis);
    if (signal == SIGTERM || signal == SIGINT) break;
    if (signal == SIGHUP) server.Reload(clock.Now());
    server.Tick(clock.Now());
  }
  log->info("stopping: open requests have {} s to end",
            std::chrono::duration_cast<std::chrono::seconds>(settings.drain_timeout).count());
  DrainAndStop(server, clock, signals, settings.drain_timeout);
  log->info("stopped");
  return 0;
}

}  // namespace weir

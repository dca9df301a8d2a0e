#include "cli/full_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

namespace weir {

ScreenSize SizeOfOutput() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {.columns = 100, .rows = 0};
  }
  return {.columns = size.ws_col, .rows = size.ws_row};
}

FullScreen::FullScreen(Terminal& out) : out_(out) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH}) sigaddset(&wanted, signal);
  pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
  signals_ = FileDescriptor(signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  has_keys_ = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &before_) == 0;
  if (has_keys_) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    raw.c_cc[VSUSP] = _POSIX_VDISABLE;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  }
  out_.Print("\x1b[?1049h\x1b[?25l");  // another screen, no cursor
  out_.Flush();
}

FullScreen::~FullScreen() {
  out_.Print("\x1b[?25h\x1b[?1049l");
  out_.Flush();
  if (has_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

void FullScreen::Show(const std::vector<std::string>& lines) {
  out_.Print("\x1b[H");
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out_.Print("\r\n");
    out_.PaintedLines(lines[i]);
    out_.Print("\x1b[K");
  }
  out_.Print("\x1b[J");
  out_.Flush();
}

FullScreen::Event FullScreen::TakeSignal() {
  signalfd_siginfo info{};
  Event event = Event::kTime;
  while (read(signals_.get(), &info, sizeof info) == sizeof info) {
    signal_ = static_cast<int>(info.ssi_signo);
    if (signal_ != SIGWINCH) return Event::kSignal;
    event = Event::kResized;
  }
  return event;
}

bool FullScreen::TakeKeys() {
  std::array<char, 64> keys;
  const ssize_t n = read(STDIN_FILENO, keys.data(), keys.size());
  if (n <= 0) has_keys_ = false;  // it has gone; not to be waited for again
  const auto is_quit = [](char key) { return key == 'q' || key == 'Q'; };
  return n > 0 && std::any_of(keys.begin(), keys.begin() + n, is_quit);
}

FullScreen::Event FullScreen::Wait(Duration time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return Event::kTime;
    std::array<pollfd, 2> waiting = {pollfd{signals_.get(), POLLIN, 0},
                                     pollfd{has_keys_ ? STDIN_FILENO : -1, POLLIN, 0}};
    if (poll(waiting.data(), waiting.size(), static_cast<int>(left.count())) <= 0) continue;
    if (waiting[0].revents != 0) {
      const Event event = TakeSignal();
      if (event != Event::kTime) return event;
    }
    if (waiting[1].revents != 0 && TakeKeys()) return Event::kQuit;
  }
}

}  // namespace weir

#include "server/client/reserve_command.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/file_descriptor.h"
#include "server/net/address.h"

namespace weir {
namespace {

constexpr int kExitError = 2;
constexpr size_t kMostAnswer = size_t{64} << 10;

std::string ReserveWords(const std::vector<std::string>& words) {
  std::string text = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return text;
}

std::string Millis(Duration time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

// A connection to the Redis front that waits.
class RespClient {
 public:
  // Empty, or what went wrong.
  std::string Connect(const std::string& server, Duration deadline) {
    const Result<Address> address = Address::Parse(server);
    if (!address) return address.error().message;
    fd_ = FileDescriptor(socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const timeval patience{
        .tv_sec = std::chrono::duration_cast<std::chrono::seconds>(deadline).count(), .tv_usec = 0};
    setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    const auto* raw = reinterpret_cast<const sockaddr*>(&address->storage);
    if (connect(fd_.get(), raw, address->length) != 0) return std::strerror(errno);
    return "";
  }

  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  // The answer's first line; false if none comes in time.
  bool ReadLine(Duration deadline, std::string& line) {
    size_t end = 0;
    while ((end = in_.find("\r\n")) == std::string::npos) {
      if (in_.size() > kMostAnswer || !ReadMore(deadline)) return false;
    }
    line = in_.substr(0, end);
    in_.erase(0, end + 2);
    return true;
  }

  int fd() const { return fd_.get(); }

 private:
  bool ReadMore(Duration deadline) {
    pollfd waiting{fd_.get(), POLLIN, 0};
    const auto millis = std::chrono::ceil<std::chrono::milliseconds>(deadline).count();
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<int64_t>(millis, INT32_MAX)));
    if (ready == 0) errno = ETIMEDOUT;
    if (ready <= 0) return false;
    std::array<char, 4096> buffer;
    const ssize_t n = recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (n == 0) errno = ECONNRESET;
    if (n <= 0) return false;
    in_.append(buffer.data(), static_cast<size_t>(n));
    return true;
  }

  FileDescriptor fd_;
  std::string in_;
};

enum class Got { kCopies, kRefusal, kError };

// What is answered begins, in RESP2, "*18, $7, allowed, :1, $7, outcome, $7, granted", a line each.
Got Ask(RespClient& client, const ReserveArguments& arguments, std::string& what) {
  std::string request;
  if (!arguments.token.empty()) request = ReserveWords({"AUTH", arguments.token});
  request +=
      ReserveWords({"WEIR.RESERVE", arguments.namespace_name, arguments.resource, arguments.subject,
                    "COPIES", std::to_string(arguments.copies), "WAIT", Millis(arguments.wait)});
  const Duration deadline =
      arguments.wait > kNever - arguments.deadline ? kNever : arguments.wait + arguments.deadline;
  const auto failed = [&] {
    what = std::strerror(errno);
    return Got::kError;
  };
  if (!client.Send(request)) return failed();
  if (!arguments.token.empty()) {
    std::string line;
    if (!client.ReadLine(deadline, line)) return failed();
    if (line.starts_with('-')) {
      what = line.substr(1);
      return Got::kError;
    }
  }
  std::array<std::string, 8> lines;
  for (std::string& one : lines) {
    if (!client.ReadLine(deadline, one)) return failed();
    if (one.starts_with('-')) {
      what = one.substr(1);
      return Got::kError;
    }
  }
  if (lines[2] != "allowed" || lines[5] != "outcome") {
    what = "this is no Weir";
    return Got::kError;
  }
  what = lines[7];
  return lines[3] == ":1" ? Got::kCopies : Got::kRefusal;
}

[[noreturn]] void Become(const std::vector<std::string>& command, const sigset_t& signals) {
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGTERM);  // it must not go on without what is held for it
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  const int error = errno;
  const std::string why = "error: " + command[0] + ": " + std::strerror(error) + "\n";
  (void)!write(STDERR_FILENO, why.data(), why.size());
  _exit(error == ENOENT ? 127 : 126);
}

// Waits for the command, handing on the signals that are meant for it.
int Await(pid_t child, int signals, int connection, std::ostream& errors) {
  std::array<pollfd, 2> waiting = {pollfd{signals, POLLIN, 0}, pollfd{connection, POLLIN, 0}};
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
    if (waiting[1].revents == 0) continue;
    std::array<char, 4096> rest;  // of the answer
    if (recv(connection, rest.data(), rest.size(), MSG_DONTWAIT) > 0) continue;
    errors << "warning: the server has gone, and nothing is held any more" << std::endl;
    waiting[1].fd = -1;
  }
}

}  // namespace

int RunReserve(const ReserveArguments& arguments, std::ostream& errors) {
  RespClient client;
  std::string what = client.Connect(arguments.resp, arguments.deadline);
  const Got got = what.empty() ? Ask(client, arguments, what) : Got::kError;
  if (got == Got::kError) {
    errors << "error: " << what << " (from the Redis front at " << arguments.resp
           << "; --resp ADDRESS names another)\n";
    return kExitError;
  }
  if (got == Got::kRefusal) {
    errors << "refused: " << what << "\n";
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
    errors << "error: " << std::strerror(errno) << "\n";
    return kExitError;
  }
  return Await(child, signals.get(), client.fd(), errors);
}

}  // namespace weir

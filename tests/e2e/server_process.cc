#include "tests/e2e/server_process.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weir::e2e {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience(10);

int MillisUntil(Clock::time_point until) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  return left.count() < 0 ? 0 : static_cast<int>(left.count());
}

[[noreturn]] void Become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

}  // namespace

pid_t Spawn(const std::vector<std::string>& command, int in, int out, int errors) {
  const pid_t pid = fork();
  if (pid != 0) {
    setpgid(pid, pid);  // both of them: whoever is first
    return pid;
  }
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (in >= 0) dup2(in, 0);
  if (out >= 0) dup2(out, 1);
  if (errors >= 0) dup2(errors, 2);
  signal(SIGPIPE, SIG_DFL);
  Become(command);
}

ServerProcess::ServerProcess(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& environment) {
  std::array<int, 2> pipes;
  if (pipe2(pipes.data(), O_CLOEXEC) != 0) std::abort();
  std::vector<std::string> command = {"env"};
  command.insert(command.end(), environment.begin(), environment.end());
  command.insert(command.end(), {WEIR_BINARY, "serve"});
  for (const char* front : {"--http", "--grpc", "--resp"}) {
    bool given = false;
    for (const std::string& argument : arguments) given = given || argument == front;
    if (given) continue;
    command.emplace_back(front);
    command.emplace_back("127.0.0.1:0");
  }
  command.insert(command.end(), arguments.begin(), arguments.end());
  pid_ = Spawn(command, -1, -1, pipes[1]);
  close(pipes[1]);
  log_pipe_ = pipes[0];
  if (!WaitForLog("ready")) return;
  for (const std::string front : {"http", "grpc", "resp", "poolcounter", "cluster"}) {
    const size_t at = log_.find(" " + front + " on ");
    if (at == std::string::npos) continue;
    const size_t end = log_.find_first_of(" \n", at + front.size() + 5);
    const std::string address = log_.substr(at, end - at);
    ports_[front] = std::atoi(address.c_str() + address.rfind(':') + 1);
  }
}

ServerProcess::~ServerProcess() {
  if (!ended_) {
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  close(log_pipe_);
}

int ServerProcess::port(const std::string& front) const {
  const auto found = ports_.find(front);
  return found == ports_.end() ? 0 : found->second;
}

bool ServerProcess::ReadLog(int timeout_ms) {
  pollfd waiting{log_pipe_, POLLIN, 0};
  if (poll(&waiting, 1, timeout_ms) <= 0) return false;
  std::array<char, 4096> buffer;
  const ssize_t n = read(log_pipe_, buffer.data(), buffer.size());
  if (n <= 0) return false;
  log_.append(buffer.data(), static_cast<size_t>(n));
  return true;
}

bool ServerProcess::WaitForLog(std::string_view text) {
  const auto until = Clock::now() + kPatience;
  while (true) {
    const size_t at = log_.find(text, waited_);
    if (at != std::string::npos) {
      waited_ = at + text.size();
      return true;
    }
    if (!ReadLog(MillisUntil(until))) return false;
  }
}

void ServerProcess::Signal(int signal) {
  kill(pid_, signal);
  // It goes on for a moment after kill() returns: long enough to answer one more request.
  if (signal == SIGSTOP) waitpid(pid_, nullptr, WUNTRACED);
}

int ServerProcess::WaitForEnd() {
  const auto until = Clock::now() + kPatience;
  while (ReadLog(MillisUntil(until))) {
  }
  if (MillisUntil(until) == 0) return -1000;  // the pipe is open still
  int status = 0;
  waitpid(pid_, &status, 0);
  ended_ = true;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

size_t ServerProcess::resident_bytes() const {
  size_t pages = 0, resident = 0;
  std::ifstream("/proc/" + std::to_string(pid_) + "/statm") >> pages >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

Socket::Socket(int port) : fd_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
  close(fd_);
  fd_ = -1;
}

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

bool Socket::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::string Socket::ReadUntil(std::string_view end) {
  const auto until = Clock::now() + std::chrono::seconds(5);
  std::string in = std::move(left_);
  left_.clear();
  while (true) {
    const size_t at = end.empty() ? std::string::npos : in.find(end);
    if (at != std::string::npos) {
      left_ = in.substr(at + end.size());
      return in.substr(0, at + end.size());
    }
    pollfd waiting{fd_, POLLIN, 0};
    if (poll(&waiting, 1, MillisUntil(until)) <= 0) return in;
    std::array<char, 65536> buffer;
    const ssize_t n = recv(fd_, buffer.data(), buffer.size(), 0);
    closed_ = n <= 0;
    if (closed_) return in;
    in.append(buffer.data(), static_cast<size_t>(n));
  }
}

void Socket::CloseSending() { shutdown(fd_, SHUT_WR); }

std::string HttpGet(int port, const std::string& path, const std::string& headers) {
  Socket socket(port);
  if (!socket.connected()) return "";
  socket.Send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + headers +
              "\r\n");
  return socket.ReadAll();
}

TemporaryFiles::TemporaryFiles() {
  std::string name = (std::filesystem::temp_directory_path() / "weir-e2e-XXXXXX").string();
  path_ = mkdtemp(name.data());
}

TemporaryFiles::~TemporaryFiles() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::string TemporaryFiles::Write(const std::string& name, const std::string& text) const {
  const std::string path = path_ + "/" + name;
  std::ofstream(path + ".new") << text;
  std::filesystem::rename(path + ".new", path);
  return path;
}

Finished RunProgram(const std::vector<std::string>& command, const std::string& input) {
  std::array<int, 2> pipes, inputs;
  if (pipe2(pipes.data(), O_CLOEXEC) != 0 || pipe2(inputs.data(), O_CLOEXEC) != 0) std::abort();
  // It fits the pipe: nobody has to read for this to return.
  if (write(inputs[1], input.data(), input.size()) != static_cast<ssize_t>(input.size())) {
    std::abort();
  }
  close(inputs[1]);
  const pid_t pid = Spawn(command, inputs[0], pipes[1], pipes[1]);
  close(inputs[0]);
  close(pipes[1]);
  Finished finished;
  std::array<char, 65536> buffer;
  for (ssize_t n; (n = read(pipes[0], buffer.data(), buffer.size())) > 0;) {
    finished.output.append(buffer.data(), static_cast<size_t>(n));
  }
  close(pipes[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return finished;
}

}  // namespace weir::e2e

#include "lab/live/program.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace weir::lab {
namespace {

namespace fs = std::filesystem;

// In the child: never returns.
[[noreturn]] void Become(const std::vector<std::string>& command, int core) {
  if (core != Program::kAnyCore) StayOn(core);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(127);
}

uint64_t ThreadsNanos(const fs::path& process) {
  uint64_t sum = 0;
  std::error_code error;
  for (const auto& thread : fs::directory_iterator(process / "task", error)) {
    uint64_t nanos = 0;
    std::ifstream(thread.path() / "schedstat") >> nanos;
    sum += nanos;
  }
  return sum;
}

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

}  // namespace

void StayOn(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(static_cast<size_t>(core), &cores);
  sched_setaffinity(0, sizeof cores, &cores);
}

Program::Program(std::vector<std::string> command, int core) : pid_(fork()) {
  if (pid_ != 0) return;
  const int null = open("/dev/null", O_RDWR);
  for (const int fd : {0, 1, 2}) dup2(null, fd);
  setpgid(0, 0);
  Become(command, core);
}

Program::~Program() {
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

uint64_t Program::CpuNanos() const {
  uint64_t sum = ThreadsNanos(fs::path("/proc") / std::to_string(pid_));
  std::ifstream children("/proc/" + std::to_string(pid_) + "/task/" + std::to_string(pid_) +
                         "/children");
  for (int child = 0; children >> child;) {
    sum += ThreadsNanos(fs::path("/proc") / std::to_string(child));
  }
  return sum;
}

std::string RunOn(int core, const std::vector<std::string>& command) {
  std::array<int, 2> pipes;
  if (pipe(pipes.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(pipes[1], 1);
    dup2(pipes[1], 2);
    close(pipes[0]);
    Become(command, core);
  }
  close(pipes[1]);
  std::string out;
  std::array<char, 65536> buffer;
  for (ssize_t n; (n = read(pipes[0], buffer.data(), buffer.size())) > 0;) {
    out.append(buffer.data(), static_cast<size_t>(n));
  }
  close(pipes[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (status != 0) throw std::runtime_error(command[0] + " failed: " + out);
  return out;
}

void AwaitPort(int port) {
  for (int i = 0; i < 1000; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in address = Loopback(port);
    const bool up = connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    close(fd);
    if (up) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("nothing listens on port " + std::to_string(port));
}

ScratchDirectory::ScratchDirectory() {
  std::string name = (fs::temp_directory_path() / "weir-XXXXXX").string();
  path_ = mkdtemp(name.data());
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code error;
  fs::remove_all(path_, error);
}

std::string ScratchDirectory::Write(const std::string& name, const std::string& text) const {
  std::ofstream(Path(name)) << text;
  return Path(name);
}

}  // namespace weir::lab

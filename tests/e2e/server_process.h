// The real server, as a process of its own on free ports, and plain sockets to talk to it.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weir::e2e {

class ServerProcess {
 public:
  // `weir serve` with these arguments behind its addresses. Waits until it listens on all fronts, or
  // has ended. `environment`: NAME=VALUE, beside the test's own.
  explicit ServerProcess(const std::vector<std::string>& arguments,
                         const std::vector<std::string>& environment = {});
  ~ServerProcess();  // kills it
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  int port(const std::string& front) const;  // "http", …, "cluster"; 0 if it is not served
  // Waits until the log has `text` behind what was waited for before; false after ten seconds, or
  // when the server ends.
  bool WaitForLog(std::string_view text);
  void Signal(int signal);
  // The exit code, or minus the signal; -1000 if it does not end in ten seconds.
  int WaitForEnd();

  const std::string& log() const { return log_; }
  size_t resident_bytes() const;
  pid_t pid() const { return pid_; }

 private:
  bool ReadLog(int timeout_ms);

  pid_t pid_ = -1;
  int log_pipe_ = -1;
  std::string log_;
  size_t waited_ = 0;  // of log_
  std::map<std::string, int> ports_;
  int exit_code_ = 0;
  bool ended_ = false;
};

// A socket that waits, but not for ever.
class Socket {
 public:
  explicit Socket(int port);
  ~Socket();
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool connected() const { return fd_ >= 0; }
  bool Send(std::string_view bytes);
  // Until `end` has come, the peer has closed, or five seconds have passed: what came.
  std::string ReadUntil(std::string_view end);
  // Until the peer closes.
  std::string ReadAll() { return ReadUntil(""); }
  bool closed_by_peer() const { return closed_; }
  void CloseSending();

 private:
  int fd_ = -1;
  bool closed_ = false;
  std::string left_;
};

// A request over a connection of its own; the whole answer.
std::string HttpGet(int port, const std::string& path, const std::string& headers = "");

// A file in a directory that goes away with this.
class TemporaryFiles {
 public:
  TemporaryFiles();
  ~TemporaryFiles();
  TemporaryFiles(const TemporaryFiles&) = delete;
  TemporaryFiles& operator=(const TemporaryFiles&) = delete;
  // Replaced at once: nobody sees half of it.
  std::string Write(const std::string& name, const std::string& text) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Finished {
  int exit_code = -1;
  std::string output;  // both streams
};
// Runs a program found in PATH to its end; it reads `input`, which is short.
Finished RunProgram(const std::vector<std::string>& command, const std::string& input = "");

// The same, in a process group of its own with all that it starts; it dies with the test. The ends
// of pipes for its input and outputs; -1: the test's own.
pid_t Spawn(const std::vector<std::string>& command, int in, int out, int errors);

}  // namespace weir::e2e

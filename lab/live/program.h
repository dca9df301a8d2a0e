// A server under load: another process, on a core of its own or on any.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace weir::lab {

class Program {
 public:
  static constexpr int kAnyCore = -1;

  // Starts it on `core`, silent. Killed when this goes.
  Program(std::vector<std::string> command, int core);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Nanoseconds of processor time of it and its children so far, system calls included.
  uint64_t CpuNanos() const;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// The calling thread runs on `core` from now on.
void StayOn(int core);
// Runs a command on `core` to its end and returns what it printed; throws if it fails.
std::string RunOn(int core, const std::vector<std::string>& command);
// Waits until something listens; throws after ten seconds.
void AwaitPort(int port);
// A directory that goes away with this.
class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  // Writes a file there and returns its path.
  std::string Write(const std::string& name, const std::string& text) const;
  std::string Path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace weir::lab

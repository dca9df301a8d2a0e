// A proxy of others in front of Weir: started from an example's own files, with ports put in.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace weir::e2e {

// examples/NAME with every key replaced by its value; a key that is not there is a failure.
std::string Example(const std::string& name, const std::map<std::string, std::string>& changes);

// What stands behind the proxy: answers every request with 200 and "upstream\n".
class Upstream {
 public:
  Upstream();
  ~Upstream();
  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;
  int port() const { return port_; }
  int requests() const { return requests_; }

 private:
  void Serve();

  int port_ = 0;
  int listener_ = -1;
  int wake_ = -1;  // written when it is to end
  std::atomic<int> requests_ = 0;
  std::thread server_;
};

// A program that serves until it is killed, with this.
class Proxy {
 public:
  // Waits until it listens on the port; false from running() if it ended instead.
  Proxy(const std::vector<std::string>& command, int port);
  ~Proxy();
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;
  bool running() const { return running_; }
  std::string log() const;

 private:
  pid_t pid_ = -1;
  int log_file_ = -1;
  bool running_ = false;
};

}  // namespace weir::e2e

// A PostgreSQL of the test's own, in a temporary directory, reached by a socket file. It runs as the
// user postgres where the test is root, and ends with the test.
#pragma once

#include <sys/types.h>

#include <string>

namespace weir {

class PostgresServer {
 public:
  // Where it is not installed, url() is empty.
  PostgresServer();
  ~PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;

  const std::string& url() const { return url_; }
  void Start();  // again, after Kill
  void Kill();
  void Pause();  // its processes stand still
  void Resume();

 private:
  std::string directory_, programs_, url_;
  pid_t pid_ = -1;
};

}  // namespace weir

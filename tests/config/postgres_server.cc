#include "tests/config/postgres_server.h"

#include <grp.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

namespace weir {
namespace {

std::string FindPrograms() {
  std::string found;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    if (std::filesystem::exists(entry.path() / "bin/initdb", error)) found = entry.path() / "bin";
  }
  return found;
}

// PostgreSQL does not run as root.
void LeaveRoot() {
  const passwd* user = geteuid() == 0 ? getpwnam("postgres") : nullptr;
  if (user == nullptr) return;
  if (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)
    _exit(126);
}

pid_t Run(const std::vector<std::string>& command, const std::string& log) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  setpgid(0, 0);
  LeaveRoot();
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (freopen(log.c_str(), "a", stdout) == nullptr || dup2(1, 2) < 0) _exit(125);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

// All that descends from it stands still, or goes on. PostgreSQL's processes have groups of their
// own, so they are found one by one.
void SignalAll(pid_t pid, int signal) {
  kill(pid, signal);
  std::ifstream children("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) +
                         "/children");
  for (pid_t child = 0; children >> child;) kill(child, signal);
}

}  // namespace

PostgresServer::PostgresServer() : programs_(FindPrograms()) {
  if (programs_.empty()) return;
  std::string name = "/tmp/weir-pg-XXXXXX";
  directory_ = mkdtemp(name.data());
  if (const passwd* user = geteuid() == 0 ? getpwnam("postgres") : nullptr) {
    if (chown(directory_.c_str(), user->pw_uid, user->pw_gid) != 0) return;
  }
  int status = 1;
  waitpid(Run({programs_ + "/initdb", "-N", "-A", "trust", "-U", "postgres", "-E", "UTF8", "-D",
               directory_ + "/data"},
              directory_ + "/log"),
          &status, 0);
  if (status != 0) return;
  url_ = "postgresql:///postgres?user=postgres&host=" + directory_;
  Start();
}

PostgresServer::~PostgresServer() {
  Kill();
  std::error_code error;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, error);
}

void PostgresServer::Start() {
  pid_ = Run(
      {programs_ + "/postgres", "-F", "-D", directory_ + "/data", "-k", directory_, "-c",
       "listen_addresses=", "-c", "shared_buffers=1MB", "-c", "dynamic_shared_memory_type=mmap"},
      directory_ + "/log");
  for (int i = 0; i < 400 && PQping(url_.c_str()) != PQPING_OK; ++i) poll(nullptr, 0, 25);
}

void PostgresServer::Kill() {
  if (pid_ <= 0) return;
  SignalAll(pid_, SIGCONT);
  kill(pid_, SIGQUIT);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void PostgresServer::Pause() { SignalAll(pid_, SIGSTOP); }
void PostgresServer::Resume() { SignalAll(pid_, SIGCONT); }

}  // namespace weir

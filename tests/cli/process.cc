#include "tests/cli/process.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

namespace weir {
namespace {

void CheckThat(bool good, const char* what) {
  if (good) return;
  std::perror(what);
  std::abort();
}

// A file without a name that is gone when it is closed.
int TemporaryFile() {
  FILE* const file = std::tmpfile();
  CheckThat(file != nullptr, "tmpfile");
  const int copy = dup(fileno(file));
  std::fclose(file);
  CheckThat(copy >= 0, "dup");
  return copy;
}

[[noreturn]] void Become(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(words[0], words.data());
  _exit(127);
}

std::string ReadAll(int file) {
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t n = read(file, buffer.data(), buffer.size());
    if (n > 0) text.append(buffer.data(), static_cast<size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return text;  // a terminal ends with EIO
  }
}

void WriteAll(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(file, text.data() + done, text.size() - done);
    CheckThat(n > 0, "write");
    done += static_cast<size_t>(n);
  }
}

std::string ReadFromStart(int file) {
  CheckThat(lseek(file, 0, SEEK_SET) == 0, "lseek");
  std::string text = ReadAll(file);
  close(file);
  return text;
}

int WaitFor(pid_t child) {
  int status = 0;
  CheckThat(waitpid(child, &status, 0) == child, "waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Ran RunWithPipe(const std::vector<std::string>& command, const std::string& input) {
  const int in = TemporaryFile(), out = TemporaryFile(), errors = TemporaryFile();
  WriteAll(in, input);
  CheckThat(lseek(in, 0, SEEK_SET) == 0, "lseek");
  const pid_t child = fork();
  CheckThat(child >= 0, "fork");
  if (child == 0) {
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(errors, STDERR_FILENO);
    Become(command);
  }
  Ran ran;
  ran.exit_code = WaitFor(child);
  close(in);
  ran.out = ReadFromStart(out);
  ran.errors = ReadFromStart(errors);
  return ran;
}

Ran RunAtTerminal(const std::vector<std::string>& command, const std::string& input,
                  TerminalSize size) {
  int terminal = -1;
  winsize window{};
  window.ws_col = size.columns;
  window.ws_row = size.rows;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &window);
  CheckThat(child >= 0, "forkpty");
  if (child == 0) {
    unsetenv("NO_COLOR");
    Become(command);
  }
  WriteAll(terminal, input);
  Ran ran;
  for (const char c : ReadAll(terminal)) {
    if (c != '\r') ran.out += c;
  }
  ran.exit_code = WaitFor(child);
  close(terminal);
  return ran;
}

}  // namespace weir

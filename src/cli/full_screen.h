// The whole terminal, for a program that redraws it: its size, its keys, and signals as something to
// wait for. Whatever ends the program but SIGKILL, the terminal is as it was before.
#pragma once

#include <termios.h>

#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/terminal.h"
#include "cli/top_screen.h"
#include "weir/instant.h"

namespace weir {

// Of the terminal that standard output is; 80 columns and no end of rows if it is none.
ScreenSize SizeOfOutput();

class FullScreen {
 public:
  enum class Event { kTime, kResized, kQuit, kSignal };

  explicit FullScreen(Terminal& out);
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  // In place of what is there; more lines than the screen has are cut.
  void Show(const std::vector<std::string>& lines);
  // Until the time is over, `q` is typed, the size changes or a signal comes (signal()).
  Event Wait(Duration time);
  int signal() const { return signal_; }

 private:
  Event TakeSignal();
  bool TakeKeys();  // true: q was among them

  Terminal& out_;
  FileDescriptor signals_;
  int signal_ = 0;
  bool has_keys_ = false;
  termios before_{};
};

}  // namespace weir

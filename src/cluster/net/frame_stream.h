// A stream of frames over a socket that does not wait: four bytes of length, little-endian, then as
// many bytes. A length is looked at before memory is taken for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"

namespace weir::cluster {

class FrameStream {
 public:
  // `most`: the longest frame that is taken.
  FrameStream(FileDescriptor socket, size_t most) : socket_(std::move(socket)), most_(most) {}

  enum class Outcome { kDone, kWait, kBroken };
  Outcome Read(std::string& frame);
  void Write(std::string_view frame);
  Outcome Flush();  // kDone: all is with the kernel

  int fd() const { return socket_.get(); }
  bool flushed() const { return out_.empty(); }

 private:
  Outcome Fill(size_t wanted);

  FileDescriptor socket_;
  const size_t most_;
  std::string in_, out_;
};

}  // namespace weir::cluster

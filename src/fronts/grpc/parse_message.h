// Messages that a thread uses again and again, so that their memory is taken once.
#pragma once

#include <google/protobuf/arena.h>
#include <google/protobuf/message.h>

#include <string_view>

namespace weir {

// What a large message leaves behind is not kept.
inline constexpr size_t kLargeMessage = size_t{64} << 10;

// False if `bytes` are not such a message.
template <typename Message>
bool ParseMessage(std::string_view bytes, Message& message) {
  return message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// After use of a thread's message that `bytes` were read into.
template <typename... Messages>
void KeepSmall(std::string_view bytes, Messages&... messages) {
  if (bytes.size() > kLargeMessage) ((messages = Messages()), ...);
}

// Messages of one kind or another, whose parts would be taken from the heap one by one: here they
// share a piece of the stack, and more only if that is too small.
class MessageArena {
 public:
  MessageArena() : arena_(memory_, sizeof memory_) {}

  template <typename Message>
  Message& New() {
    return *google::protobuf::Arena::CreateMessage<Message>(&arena_);
  }

 private:
  alignas(8) char memory_[2048];
  google::protobuf::Arena arena_;
};

}  // namespace weir

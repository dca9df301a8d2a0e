// Messages that a thread uses again and again, so that their memory is taken once.
#pragma once

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

}  // namespace weir

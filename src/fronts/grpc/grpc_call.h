// One call: a stream of a connection, from its headers to its end.
//
//   headers ---> open ---------------> finished ---------> closed, and back to the pool
//                messages come          status is known     both sides said so, or one reset it
//                and go
//
// A message on the wire is five bytes (0, and the length in 32 bits) and then itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "fronts/grpc/call_metadata.h"
#include "fronts/grpc/method_table.h"

namespace weir {

class Http2Session;

inline constexpr size_t kMessageHead = 5;

// For Http2Session alone, which keeps calls and their memory for the next ones.
struct GrpcCall final : CallStream {
  explicit GrpcCall(Http2Session& session) : session(session) {}

  void Write(std::string_view message) override;
  void Finish(const GrpcStatus& status) override;
  void Answer(const GrpcStatus& status, std::string_view message) override;
  Link& link() override;
  const Reach* ReachNow() const override;

  // As new, but for memory of a usual size.
  void Clear();
  bool PastDeadline(Instant now) const { return timeout && now - begun >= *timeout; }
  // How much longer the peer waits.
  Duration Patience(Instant now) const { return timeout ? *timeout - (now - begun) : kNever; }
  size_t unsent() const { return out.size() - sent; }
  size_t heap_bytes() const { return in.capacity() + out.capacity() + metadata.bytes(); }

  // The capacity that `in` is to have before so many bytes come: no more than the message takes that
  // it begins with.
  size_t RoomFor(size_t more) const;
  // Appends them to `in`, which has that room.
  void Take(std::string_view bytes, size_t room);

  Http2Session& session;
  int32_t id = 0;  // of the stream; 0: in the pool

  // From the headers.
  const Method* method = nullptr;
  bool is_post = false;
  bool is_grpc = false;
  bool bad_timeout = false;
  size_t header_bytes = 0;
  std::optional<Duration> timeout;
  Instant begun{};          // when its headers are known to have been there
  Instant partial_since{};  // of a streaming one: since when a part of a message has been there
  Instant finished_at{};    // when its end was known
  CallMetadata metadata;
  const Reach* reach = &kEverywhere;  // of whoever shows its token
  uint64_t policy_version = 0;        // by which that was found; 0: it was not yet asked

  std::string in;   // what came and was not used
  std::string out;  // what is to be sent, from `sent` on
  size_t sent = 0;
  bool responded = false;  // our headers are on their way
  bool finished = false;   // and so will be `status`, after `out`
  GrpcStatus status;
  std::unique_ptr<StreamingCall> streaming;  // null: unary
  Waiter* waiter = nullptr;                  // of a unary call that is answered late
};

// As the five bytes before a message tell it.
size_t MessageLength(std::string_view head);
// The five bytes before a message of that length.
void PutMessageHead(char* head, size_t length);

}  // namespace weir

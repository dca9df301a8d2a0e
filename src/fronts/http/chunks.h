// A body sent in chunks (RFC 9112, section 7.1), put together as its bytes come.
//
//   5 [;extension] CRLF hello CRLF ... 0 CRLF [trailers] CRLF
//
// The same bytes are given again, with more behind them; what was read is not read again. Trailers
// are passed over.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fronts/http/request_head.h"

namespace weir::http {

class Chunks {
 public:
  // `in` begins with the first chunk. Returns where the body ends; nothing if that has not come yet
  // or there is a fault. The body takes at most `most` bytes as sent.
  std::optional<size_t> Read(std::string_view in, size_t most, Fault& fault);
  const std::string& body() const { return body_; }
  size_t bytes() const { return body_.capacity(); }
  void Reset();

 private:
  enum class Step { kSize, kData, kTrailer };
  bool TakeSize(std::string_view line, Fault& fault);

  Step step_ = Step::kSize;
  size_t at_ = 0;    // of `in`, how much was read
  size_t size_ = 0;  // of the chunk whose data is next
  std::string body_;
};

}  // namespace weir::http

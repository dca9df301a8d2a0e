#include "fronts/http/chunks.h"

#include <algorithm>
#include <charconv>

namespace weir::http {
namespace {

constexpr size_t kLongestSizeLine = 256;
constexpr size_t kLongestTrailer = 8192;
constexpr size_t kMostDigits = 8;
constexpr size_t kKeptOfChunks = 512;  // of memory, from one body to the next

}  // namespace

void Chunks::Reset() {
  step_ = Step::kSize;
  at_ = size_ = 0;
  body_.clear();
  if (body_.capacity() > kKeptOfChunks) body_.shrink_to_fit();
}

bool Chunks::TakeSize(std::string_view line, Fault& fault) {
  const size_t digits = std::min(line.find(';'), line.size());
  const char* const end = line.data() + digits;
  const auto [stop, error] = std::from_chars(line.data(), end, size_, 16);
  const bool visible = std::all_of(line.begin(), line.end(), [](char c) {
    return static_cast<unsigned char>(c) >= ' ' && c != 0x7f;
  });
  if (digits == 0 || digits > kMostDigits || stop != end || error != std::errc() || !visible) {
    fault = {400, "the size of a chunk is not a number"};
    return false;
  }
  return true;
}

std::optional<size_t> Chunks::Read(std::string_view in, size_t most, Fault& fault) {
  for (;;) {
    if (step_ == Step::kData) {
      if (size_ + 2 > most - std::min(at_, most)) {
        fault = {413, "the body is too large"};
        return std::nullopt;
      }
      if (in.size() < at_ + size_ + 2) return std::nullopt;
      if (in.substr(at_ + size_, 2) != "\r\n") {
        fault = {400, "a chunk is longer than its size says"};
        return std::nullopt;
      }
      body_.append(in.substr(at_, size_));
      at_ += size_ + 2;
      step_ = Step::kSize;
      continue;
    }
    const size_t longest = step_ == Step::kSize ? kLongestSizeLine : kLongestTrailer;
    const std::string_view rest = in.substr(at_, longest);
    const size_t end = rest.find('\n');
    if (at_ + std::min(end, rest.size()) >= most) {
      fault = {413, "the body is too large"};
      return std::nullopt;
    }
    if (end == std::string_view::npos) {
      if (rest.size() == longest) fault = {400, "a line between chunks is too long"};
      return std::nullopt;
    }
    if (end == 0 || rest[end - 1] != '\r') {
      fault = {400, "a line does not end with CR LF"};
      return std::nullopt;
    }
    const std::string_view line = rest.substr(0, end - 1);
    at_ += end + 1;
    if (step_ == Step::kTrailer) {
      if (line.empty()) return at_;
      continue;
    }
    if (!TakeSize(line, fault)) return std::nullopt;
    step_ = size_ == 0 ? Step::kTrailer : Step::kData;
  }
}

}  // namespace weir::http

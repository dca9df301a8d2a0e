#include "cluster/messages.h"

#include <algorithm>

#include "base/keyed_hash.h"

namespace weir::cluster {
namespace {

using Kind = Message::Kind;

constexpr size_t kMostBytesOfOne = size_t{1} << 14;

void AppendNumber(uint64_t number, std::string& out) {
  for (; number >= 128; number >>= 7) out.push_back(static_cast<char>(number | 128));
  out.push_back(static_cast<char>(number));
}

void Append(Kind kind, std::string_view body, std::string& out) {
  AppendNumber(body.size() + 1, out);
  out.push_back(static_cast<char>(kind));
  out += body;
}

std::string Stamped(uint64_t stamp, std::string_view id) {
  std::string body(reinterpret_cast<const char*>(&stamp), sizeof stamp);
  body.push_back(static_cast<char>(id.size()));
  body += id;
  return body;
}

// False if it is not there or too large.
bool TakeNumber(std::string_view& from, size_t& number) {
  number = 0;
  for (int shift = 0; shift < 21 && !from.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(from.front());
    from.remove_prefix(1);
    number |= size_t{byte & 127u} << shift;
    if (byte < 128) return number <= kMostBytesOfOne;
  }
  return false;
}

bool TakeStamp(std::string_view& from, uint64_t& stamp) {
  if (from.size() < sizeof stamp) return false;
  std::copy_n(from.data(), sizeof stamp, reinterpret_cast<char*>(&stamp));
  from.remove_prefix(sizeof stamp);
  return true;
}

bool ReadStamped(std::string_view body, bool padded, Message& message) {
  if (!TakeStamp(body, message.stamp) || body.empty()) return false;
  const size_t length = static_cast<uint8_t>(body.front());
  body.remove_prefix(1);
  if (length > kMostIdBytes || length > body.size()) return false;
  message.id = body.substr(0, length);
  return padded || body.size() == length;
}

bool ReadNumbered(std::string_view body, Message& message) {
  const bool good = TakeStamp(body, message.stamp);
  message.body = body;
  return good;
}

bool ReadOne(std::string_view body, Message& message) {
  if (body.empty()) return false;
  message.kind = static_cast<Kind>(body.front());
  body.remove_prefix(1);
  switch (message.kind) {
    case Kind::kGreeting: return ReadStamped(body, true, message) && !message.id.empty();
    case Kind::kPing: return ReadStamped(body, false, message) && !message.id.empty();
    case Kind::kPong: return ReadStamped(body, false, message);
    case Kind::kEnvelope: message.body = body; return !body.empty();
    case Kind::kQuestion:
    case Kind::kAnswer: return ReadNumbered(body, message);
    case Kind::kAsk: return true;
    case Kind::kWhole:
    case Kind::kLarge:
    case Kind::kNothing:
    case Kind::kAskMe:
    case Kind::kBye: return body.empty();
  }
  return false;
}

}  // namespace

void AppendGreeting(uint64_t stamp, std::string_view id, std::string& out) {
  std::string body = Stamped(stamp, id);
  body.resize(sizeof stamp + 1 + kMostIdBytes);
  Append(Kind::kGreeting, body, out);
}

void AppendPing(uint64_t stamp, std::string_view id, std::string& out) {
  Append(Kind::kPing, Stamped(stamp, id), out);
}

void AppendPong(uint64_t stamp, std::string_view id, std::string& out) {
  Append(Kind::kPong, Stamped(stamp, id), out);
}

void AppendEnvelope(std::string_view envelope, std::string& out) {
  Append(Kind::kEnvelope, envelope, out);
}

void AppendAsk(size_t padding, std::string& out) {
  Append(Kind::kAsk, std::string(padding, '\0'), out);
}

void AppendNumbered(Kind kind, uint64_t number, std::string_view body, std::string& out) {
  std::string all(reinterpret_cast<const char*>(&number), sizeof number);
  Append(kind, all += body, out);
}

void AppendBare(Kind kind, std::string& out) { Append(kind, "", out); }

std::optional<std::vector<Message>> ReadMessages(std::string_view bytes) {
  std::vector<Message> messages;
  while (!bytes.empty()) {
    size_t length = 0;
    if (!TakeNumber(bytes, length) || length > bytes.size()) return std::nullopt;
    if (!ReadOne(bytes.substr(0, length), messages.emplace_back())) return std::nullopt;
    bytes.remove_prefix(length);
  }
  return messages;
}

uint32_t NodeNumber(std::string_view id) {
  constexpr std::array<uint64_t, 2> kPublic = {0x7765697220636c75, 0x73746572206e6f64};
  const auto number = static_cast<uint32_t>(KeyedHash(kPublic)(id).low % kNodeNumbers);
  return std::max<uint32_t>(1, number);  // 0 is nobody
}

std::string IdProblem(std::string_view id) {
  const auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  if (!id.empty() && id.size() <= kMostIdBytes && std::all_of(id.begin(), id.end(), good)) {
    return "";
  }
  return "\"" + std::string(id.substr(0, kMostIdBytes)) +
         "\" is not the name of a node: 1 to 64 letters, digits, '-', '_' and '.'";
}

}  // namespace weir::cluster

#include "cluster/messages.h"

#include <algorithm>

#include "base/keyed_hash.h"

namespace weir::cluster {
namespace {

using Kind = Message::Kind;

constexpr size_t kMostBytesOfOne = size_t{1} << 14;
constexpr size_t kMostAddressBytes = 256;

void AppendNumber(uint64_t number, std::string& out) {
  for (; number >= 128; number >>= 7) out.push_back(static_cast<char>(number | 128));
  out.push_back(static_cast<char>(number));
}

void Append(Kind kind, std::string_view body, std::string& out) {
  AppendNumber(body.size() + 1, out);
  out.push_back(static_cast<char>(kind));
  out += body;
}

void AppendFixed(uint64_t number, int bytes, std::string& out) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(number >> (8 * i)));
}

constexpr int kStampBytes = 8, kMarkBytes = 8, kNamesBytes = 4, kLifeBytes = 4, kNodeBytes = 4;
// What may come with an answer to a greeting, length and kind included.
constexpr int kBareHolderBytes = 2 + kLifeBytes + kMarkBytes + 1;

std::string Stamped(uint64_t stamp, const Identity& from) {
  std::string body;
  AppendFixed(stamp, kStampBytes, body);
  body.push_back(static_cast<char>(from.id.size()));
  body += from.id;
  AppendFixed(from.birthmark, kMarkBytes, body);
  AppendFixed(from.names, kNamesBytes, body);
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

bool TakeFixed(std::string_view& from, int bytes, uint64_t& number) {
  if (from.size() < static_cast<size_t>(bytes)) return false;
  number = 0;
  for (int i = bytes - 1; i >= 0; --i) {
    number = number << 8 | static_cast<uint8_t>(from[static_cast<size_t>(i)]);
  }
  from.remove_prefix(static_cast<size_t>(bytes));
  return true;
}

// An earlier version ends behind the name.
bool ReadStamped(std::string_view body, bool padded, Message& message) {
  if (!TakeFixed(body, kStampBytes, message.stamp) || body.empty()) return false;
  const size_t length = static_cast<uint8_t>(body.front());
  body.remove_prefix(1);
  if (length > kMostIdBytes || length > body.size()) return false;
  message.from.id = body.substr(0, length);
  body.remove_prefix(length);
  uint64_t names = 0;
  if (body.empty()) return true;
  if (!TakeFixed(body, kMarkBytes, message.from.birthmark) ||
      !TakeFixed(body, kNamesBytes, names)) {
    return padded;
  }
  message.from.names = static_cast<uint32_t>(names);
  return padded || body.empty();
}

bool ReadNumbered(std::string_view body, Message& message) {
  const bool good = TakeFixed(body, kStampBytes, message.stamp);
  message.body = body;
  return good;
}

bool ReadHolder(std::string_view body, Message& message) {
  uint64_t life = 0;
  if (!TakeFixed(body, kLifeBytes, life)) return false;
  message.life = static_cast<uint32_t>(life);
  message.body = body;
  if (!TakeFixed(message.body, kMarkBytes, message.from.birthmark)) return false;
  uint64_t votes = 0;
  if (!TakeFixed(message.body, 1, votes)) return false;
  message.votes = votes != 0;
  return message.body.size() <= kMostAddressBytes;
}

bool ReadPlace(std::string_view body, Message& message) {
  uint64_t node = 0;
  if (!TakeFixed(body, kNodeBytes, node)) return false;
  message.node = static_cast<uint32_t>(node);
  message.body = body;
  return !body.empty() && body.size() <= kMostAddressBytes;
}

bool ReadOne(std::string_view body, Message& message) {
  if (body.empty()) return false;
  message.kind = static_cast<Kind>(body.front());
  body.remove_prefix(1);
  switch (message.kind) {
    case Kind::kGreeting: return ReadStamped(body, true, message) && !message.from.id.empty();
    case Kind::kYield:
    case Kind::kStay:
    case Kind::kPing: return ReadStamped(body, false, message) && !message.from.id.empty();
    case Kind::kPong: return ReadStamped(body, false, message);
    case Kind::kEnvelope: message.body = body; return !body.empty();
    case Kind::kQuestion:
    case Kind::kAnswer: return ReadNumbered(body, message);
    case Kind::kAsk: return true;
    case Kind::kWhole:
    case Kind::kLarge:
    case Kind::kNothing:
    case Kind::kAskMe:
    case Kind::kWho:
    case Kind::kBye: return body.empty();
    case Kind::kHolder: return ReadHolder(body, message);
    case Kind::kPlace: return ReadPlace(body, message);
  }
  return false;
}

}  // namespace

size_t GreetingBytes() {
  std::string greeting;
  AppendGreeting(0, {}, greeting);
  return greeting.size();
}

void AppendGreeting(uint64_t stamp, const Identity& from, std::string& out) {
  std::string body = Stamped(stamp, from);
  body.resize(kStampBytes + 1 + kMostIdBytes + kMarkBytes + kNamesBytes + kBareHolderBytes);
  Append(Kind::kGreeting, body, out);
}

void AppendPing(uint64_t stamp, const Identity& from, std::string& out) {
  Append(Kind::kPing, Stamped(stamp, from), out);
}

void AppendPong(uint64_t stamp, const Identity& from, std::string& out) {
  Append(Kind::kPong, Stamped(stamp, from), out);
}

void AppendStamped(Kind kind, uint64_t stamp, const Identity& from, std::string& out) {
  Append(kind, Stamped(stamp, from), out);
}

void AppendEnvelope(std::string_view envelope, std::string& out) {
  Append(Kind::kEnvelope, envelope, out);
}

void AppendAsk(size_t padding, std::string& out) {
  Append(Kind::kAsk, std::string(padding, '\0'), out);
}

void AppendNumbered(Kind kind, uint64_t number, std::string_view body, std::string& out) {
  std::string all;
  AppendFixed(number, kStampBytes, all);
  Append(kind, all += body, out);
}

void AppendHolder(uint32_t life, uint64_t birthmark, bool votes, std::string_view address,
                  std::string& out) {
  std::string body;
  AppendFixed(life, kLifeBytes, body);
  AppendFixed(birthmark, kMarkBytes, body);
  AppendFixed(votes ? 1 : 0, 1, body);
  body += address.substr(0, kMostAddressBytes);
  Append(Kind::kHolder, body, out);
}

void AppendPlace(uint32_t node, std::string_view address, std::string& out) {
  std::string body;
  AppendFixed(node, kNodeBytes, body);
  body += address.substr(0, kMostAddressBytes);
  Append(Kind::kPlace, body, out);
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

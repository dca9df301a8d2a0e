#include "cli/resp_client.h"

#include <array>
#include <charconv>

namespace weir {
namespace {

constexpr size_t kMostAnswer = size_t{1} << 20;
constexpr int kDeepest = 8;

std::string CommandText(const std::vector<std::string>& words) {
  std::string text = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    text += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return text;
}

ClientStream::Time Later(Duration deadline) {
  const auto now = std::chrono::steady_clock::now();
  return deadline >= ClientStream::Time::max() - now ? ClientStream::Time::max() : now + deadline;
}

}  // namespace

const RespValue* RespValue::Find(std::string_view name) const {
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind == Kind::kText && items[i].text == name) return &items[i + 1];
  }
  return nullptr;
}

int64_t RespValue::NumberOr(std::string_view name, int64_t otherwise) const {
  const RespValue* const found = Find(name);
  return found != nullptr && found->kind == Kind::kNumber ? found->number : otherwise;
}

std::string RespValue::TextOr(std::string_view name, std::string_view otherwise) const {
  const RespValue* const found = Find(name);
  return found != nullptr && found->kind == Kind::kText ? found->text : std::string(otherwise);
}

bool RespClient::Fail(std::string trouble) {
  trouble_ = std::move(trouble);
  return false;
}

Result<bool> RespClient::Connect(Duration deadline) {
  if (stream_.Connect(Later(deadline))) return true;
  return Error{Code::kUnavailable, stream_.trouble(), ""};
}

Result<RespValue> RespClient::Call(const std::vector<std::string>& words, Duration deadline) {
  const ClientStream::Time until = Later(deadline);
  RespValue value;
  if (!stream_.Send(CommandText(words), until)) {
    return Error{Code::kUnavailable, stream_.trouble(), ""};
  }
  if (!ReadValue(until, 0, value)) return Error{Code::kUnavailable, trouble_, ""};
  if (value.kind == RespValue::Kind::kError) return Error{Code::kBadRequest, value.text, ""};
  return value;
}

bool RespClient::More(ClientStream::Time until) {
  if (in_.size() > kMostAnswer) return Fail("what it says is too long");
  std::array<char, 4096> buffer;
  size_t got = 0;
  if (!stream_.Receive(buffer, until, got)) return Fail(stream_.trouble());
  if (got == 0) return Fail("it closed the connection");
  in_.append(buffer.data(), got);
  return true;
}

bool RespClient::ReadLine(ClientStream::Time until, std::string& line) {
  size_t end = 0;
  while ((end = in_.find("\r\n")) == std::string::npos) {
    if (!More(until)) return false;
  }
  line = in_.substr(0, end);
  in_.erase(0, end + 2);
  return true;
}

bool RespClient::ReadBytes(ClientStream::Time until, size_t count, std::string& bytes) {
  while (in_.size() < count + 2) {
    if (!More(until)) return false;
  }
  bytes = in_.substr(0, count);
  in_.erase(0, count + 2);
  return true;
}

bool RespClient::ReadValue(ClientStream::Time until, int depth, RespValue& value) {
  constexpr char kStrange[] = "this is no Redis protocol";
  std::string line;
  if (!ReadLine(until, line)) return false;
  if (line.empty() || depth > kDeepest) return Fail(kStrange);
  const std::string_view rest = std::string_view(line).substr(1);
  const auto number = [&](int64_t& n) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
    return error == std::errc() && end == rest.data() + rest.size();
  };
  using Kind = RespValue::Kind;
  switch (line[0]) {
    case '+': value = {.kind = Kind::kText, .text = std::string(rest)}; return true;
    case '-': value = {.kind = Kind::kError, .text = std::string(rest)}; return true;
    case ':': value.kind = Kind::kNumber; return number(value.number) || Fail(kStrange);
    case '_': return true;
    case '$':
    case '*': break;
    default: return Fail(kStrange);
  }
  int64_t count = 0;
  if (!number(count) || count > int64_t{kMostAnswer}) return Fail(kStrange);
  if (count < 0) return true;  // nothing
  if (line[0] == '$') {
    value.kind = Kind::kText;
    return ReadBytes(until, static_cast<size_t>(count), value.text);
  }
  value.kind = Kind::kArray;
  for (int64_t i = 0; i < count; ++i) {
    if (!ReadValue(until, depth + 1, value.items.emplace_back())) return false;
  }
  return true;
}

}  // namespace weir

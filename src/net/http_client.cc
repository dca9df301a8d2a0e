#include "net/http_client.h"

#include <array>

#include "net/http_answer_reader.h"

namespace weir {
namespace {

constexpr size_t kSlowest = size_t{16} << 10;  // bytes of a body, in a second

}  // namespace

Error HttpClient::Unavailable(std::string_view more) const {
  return {Code::kUnavailable,
          "no answer from " + options_.url.authority + ": " + trouble_ + std::string(more), ""};
}

bool HttpClient::Receive(ClientStream::Time begun_by, HttpAnswer& answer) {
  HttpAnswerReader reader;
  ClientStream::Time until = begun_by;
  std::array<char, 65536> buffer;
  while (!reader.done()) {
    size_t got = 0;
    const bool received = stream_.Receive(buffer, until, got);
    if (received && got == 0 && reader.End()) break;
    if (!received || got == 0) {
      trouble_ = received ? "it closed the connection" : stream_.trouble();
      if (reader.untouched() && !options_.url.tls) trouble_ += " (if it wants TLS: https://)";
      return false;
    }
    if (!reader.Feed({buffer.data(), got})) {
      trouble_ = "what it says is not HTTP, or longer than 64 MiB";
      return false;
    }
    until = begun_by + std::chrono::seconds(reader.body_size() / kSlowest);  // it is coming
  }
  answer.status = reader.status();
  answer.body = reader.TakeBody();
  if (!reader.keeps()) stream_.Close();
  return true;
}

bool HttpClient::Exchange(std::string_view request, HttpAnswer& answer) {
  const ClientStream::Time until = Until();
  if (!stream_.open() && !stream_.Connect(until)) {
    trouble_ = stream_.trouble();
    return false;
  }
  if (!stream_.Send(request, until)) {
    trouble_ = stream_.trouble();
    return false;
  }
  if (Receive(until, answer)) return true;
  stream_.Close();
  return false;
}

std::string HttpClient::RequestText(std::string_view method, std::string_view path,
                                    std::string_view json) const {
  std::string text = std::string(method) + " " + std::string(path) +
                     " HTTP/1.1\r\nHost: " + options_.url.authority +
                     "\r\nContent-Length: " + std::to_string(json.size()) + "\r\n";
  if (!options_.token.empty()) text += "Authorization: Bearer " + options_.token + "\r\n";
  if (!json.empty()) text += "Content-Type: application/json\r\n";
  return text.append("\r\n").append(json);
}

Result<HttpAnswer> HttpClient::Call(std::string_view method, std::string_view path,
                                    std::string_view json) {
  if (options_.token.find_first_of("\r\n") != std::string::npos) {
    return Error{Code::kBadRequest, "the token has a line end in it", ""};
  }
  const std::string request = RequestText(method, path, json);
  const bool may_repeat = method == "GET" || method == "PUT";
  HttpAnswer answer;
  if (stream_.open() && stream_.Spent()) stream_.Close();
  const bool reused = stream_.open();
  if (Exchange(request, answer)) return answer;
  const bool sent = stream_.sent() > 0;
  if (reused && (may_repeat || !sent)) {
    if (Exchange(request, answer)) return answer;
  }
  if (!may_repeat && stream_.sent() > 0) {
    return Unavailable("; it may have been carried out nevertheless");
  }
  return Unavailable("; is `weir serve` running there? " + options_.address_flag +
                     " ADDRESS names another");
}

std::string QueryPart(std::string_view text) {
  std::string part;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      part += c;
      continue;
    }
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    part += '%';
    part += kDigits[byte >> 4];
    part += kDigits[byte & 15];
  }
  return part;
}

}  // namespace weir

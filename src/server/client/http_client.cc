#include "server/client/http_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "server/net/address.h"

namespace weir {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr int kInterruptMillis = 100;

}  // namespace

Error HttpClient::Unavailable() const {
  return {Code::kUnavailable,
          "no answer from " + server_ +
              (errno != 0 ? std::string(": ") + std::strerror(errno) : "") +
              "; is `weir serve` running there? --server ADDRESS names another",
          ""};
}

bool HttpClient::Wait(short events) {
  pollfd waiting{fd_.get(), events, 0};
  const auto until = std::chrono::steady_clock::now() + deadline_;
  while (!interrupted_.load() && std::chrono::steady_clock::now() < until) {
    const int ready = poll(&waiting, 1, kInterruptMillis);
    if (ready != 0) return ready > 0;
  }
  errno = ETIMEDOUT;
  return false;
}

bool HttpClient::Connect() {
  const Result<Address> address = Address::Parse(server_);
  if (!address) {
    errno = EINVAL;
    return false;
  }
  fd_ = FileDescriptor(
      socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const auto* raw = reinterpret_cast<const sockaddr*>(&address->storage);
  if (connect(fd_.get(), raw, address->length) == 0) return true;
  if (errno != EINPROGRESS || !Wait(POLLOUT)) return false;
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(fd_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  errno = error;
  return error == 0;
}

bool HttpClient::Send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if ((errno != EAGAIN && errno != EINTR) || !Wait(POLLOUT)) {
      return false;
    }
  }
  return true;
}

bool HttpClient::Receive(HttpAnswer& answer) {
  std::string in;
  size_t need = SIZE_MAX;
  std::array<char, 65536> buffer;
  while (in.size() < need && in.size() < kMostBytes) {
    if (!Wait(POLLIN)) return false;
    const ssize_t n = recv(fd_.get(), buffer.data(), buffer.size(), 0);
    if (n == 0) errno = ECONNRESET;
    if (n <= 0) return false;
    in.append(buffer.data(), static_cast<size_t>(n));
    const size_t head = in.find("\r\n\r\n");
    if (need != SIZE_MAX || head == std::string::npos) continue;
    size_t length = 0;
    constexpr std::string_view kLength = "\r\nContent-Length: ";
    if (const size_t at = in.find(kLength); at < head) {
      std::from_chars(in.data() + at + kLength.size(), in.data() + head, length);
    }
    need = head + 4 + length;
    if (in.size() > 12) std::from_chars(in.data() + 9, in.data() + 12, answer.status);
    answer.body.reserve(length);
  }
  answer.body = in.substr(in.find("\r\n\r\n") + 4);
  return true;
}

Result<HttpAnswer> HttpClient::Call(std::string_view method, std::string_view path,
                                    std::string_view json) {
  errno = 0;
  std::string request = std::string(method) + " " + std::string(path) +
                        " HTTP/1.1\r\nHost: " + server_ +
                        "\r\nContent-Length: " + std::to_string(json.size()) + "\r\n";
  if (!token_.empty()) request += "Authorization: Bearer " + token_ + "\r\n";
  if (!json.empty()) request += "Content-Type: application/json\r\n";
  request += "\r\n";
  request += json;
  HttpAnswer answer;
  const bool reused = static_cast<bool>(fd_);
  if (reused && Send(request) && Receive(answer)) return answer;
  if (Connect() && Send(request) && Receive(answer)) return answer;
  fd_.Close();
  return Unavailable();
}

Result<std::string> HttpAddress(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  std::string address = url.starts_with(kScheme) ? url.substr(kScheme.size()) : url;
  while (address.ends_with('/')) address.pop_back();
  const size_t colon = address.rfind(':');
  const bool port = colon != std::string::npos && colon + 1 < address.size() &&
                    address.find_first_not_of("0123456789", colon + 1) == std::string::npos;
  if (!port) {
    return Error{Code::kBadRequest, "\"" + url + "\" is not an address such as http://HOST:PORT",
                 ""};
  }
  return address;
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

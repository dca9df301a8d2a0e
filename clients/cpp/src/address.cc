#include "clients/cpp/src/address.h"

#include <netdb.h>

#include <algorithm>
#include <cstring>
#include <future>
#include <memory>
#include <thread>

#include "weir/client/wire.h"

namespace weir::client {
namespace {

struct Found {
  int error = 0;
  std::vector<SocketAddress> addresses;
};

Found LookUp(const Address& address, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  Found found;
  found.error = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &list);
  if (found.error != 0) return found;
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    SocketAddress& added = found.addresses.emplace_back();
    added.length = one->ai_addrlen;
    std::memcpy(&added.storage, one->ai_addr, one->ai_addrlen);
  }
  return found;
}

// Names may be asked of a network that does not answer: on a thread that is left to itself when it
// takes too long.
Found LookUpInTime(const Address& address, Duration deadline) {
  auto promise = std::make_shared<std::promise<Found>>();
  std::future<Found> future = promise->get_future();
  std::thread([promise, address] { promise->set_value(LookUp(address, 0)); }).detach();
  const Duration left = deadline - Clock::System()->Now();
  if (future.wait_for(std::max(left, Duration::zero())) != std::future_status::ready) {
    throw Failure(Code::kDeadlineExceeded, address.host + " was not found in time");
  }
  return future.get();
}

}  // namespace

Address ParseAddress(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    throw Error(Code::kBadRequest, "'" + text + "' is not HOST:PORT");
  }
  Address address{text.substr(0, colon), text.substr(colon + 1)};
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  return address;
}

std::vector<SocketAddress> Resolve(const Address& address, Duration deadline) {
  Found found = LookUp(address, AI_NUMERICHOST);
  if (found.error == EAI_NONAME) found = LookUpInTime(address, deadline);
  if (found.error == 0) return std::move(found.addresses);
  throw Failure(Code::kUnavailable, address.host + ": " + gai_strerror(found.error));
}

}  // namespace weir::client

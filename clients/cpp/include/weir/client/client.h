// The client of Weir, which decides who may do what how often.
//
//   weir::client::Client client("127.0.0.1:6380");
//   if (client.Request("shop", "search", "ann", {.max_wait = 5s}).allowed) …
//
// A question goes to the first address that answers, within Options::timeout. When none does, the
// client is degraded: it grants the minimum at once, bounded by the safe rate if there is one, tries
// the addresses again by and by, and returns. A refusal is an answer; what is wrong with a question
// is thrown as an Error with a code.
//
// With max_wait a refused question is asked again, ever less often: after the i-th refusal, counted
// from 0, the client sleeps min(max_wait - waited, jitter(2^i)) seconds, and jitter(v) is uniform in
// [v - v/4, v + v/4). The answer tells how long it was waited for, so that several questions can
// share one budget.
//
// Any thread may call. Destroying the client ends its connections, and with them what is held.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "weir/client/acquire.h"
#include "weir/client/answers.h"
#include "weir/client/counters.h"
#include "weir/client/error.h"
#include "weir/client/hold.h"
#include "weir/client/options.h"

namespace weir::client {

class Core;

struct PeekOptions {
  uint64_t cost = 1;
  std::optional<uint64_t> min_cost = {};
};

struct RequestOptions {
  uint64_t cost = 1;
  std::optional<uint64_t> min_cost = {};  // grants what there is from here on; none: all or nothing
  bool settle = false;                    // the true cost is told later
  Duration max_wait{};
};

struct ReserveOptions {
  uint64_t copies = 1;
  std::optional<uint64_t> min_copies = {};
  Duration max_wait{};
  bool in_line =
      false;  // waits in the server's queue, in order of arrival, instead of asking again
  std::optional<uint64_t> max_queue = {};
  bool share = false;  // who waits is content if another of the subject does the work
};

class Client {
 public:
  explicit Client(Options options);
  // With one address and the defaults. A template, for no list in braces is taken for a string.
  template <std::convertible_to<std::string> Text>
  explicit Client(const Text& address) : Client(Options{.addresses = {address}}) {}
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  Decision Request(const std::string& namespace_name, const std::string& resource,
                   const std::string& subject, const RequestOptions& options = {});
  // What Request would answer; takes nothing.
  Decision Peek(const std::string& namespace_name, const std::string& resource,
                const std::string& subject, const PeekOptions& options = {});
  // The true cost of a request that was made with settle. With several addresses give the decision
  // rather than its ticket: it knows its server.
  Settled Settle(const Decision& decision, uint64_t cost);
  Settled Settle(const std::string& ticket, uint64_t cost);

  Hold Reserve(const std::string& namespace_name, const std::string& resource,
               const std::string& subject, const ReserveOptions& options = {});
  // Holds what another process has transferred. `copies`: if no server can tell how many.
  Hold Seize(const std::string& transfer, uint64_t copies = 1);
  Acquired AcquireAll(const std::vector<Wanted>& wanted, const AcquireOptions& options = {});

  bool degraded() const;  // no address answers
  Counters counters() const;

 private:
  const std::shared_ptr<Core> core_;
};

}  // namespace weir::client

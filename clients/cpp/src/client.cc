#include "weir/client/client.h"

#include <utility>

#include "clients/cpp/src/acquirer.h"
#include "clients/cpp/src/core.h"

namespace weir::client {

Client::Client(Options options) : core_(std::make_shared<Core>(std::move(options))) {}
Client::~Client() { core_->Close(); }

Decision Client::Request(const std::string& namespace_name, const std::string& resource,
                         const std::string& subject, const RequestOptions& options) {
  return core_->Request({namespace_name, resource, subject}, options);
}

Decision Client::Peek(const std::string& namespace_name, const std::string& resource,
                      const std::string& subject, const PeekOptions& options) {
  return core_->Peek({namespace_name, resource, subject}, options);
}

Settled Client::Settle(const Decision& decision, uint64_t cost) {
  const bool known = !decision.ticket.empty() || decision.source == Source::kServer;
  if (!known) return {.charged = cost, .source = decision.source};
  return core_->Settle(decision.ticket, cost, decision.address);
}

Settled Client::Settle(const std::string& ticket, uint64_t cost) {
  return core_->Settle(ticket, cost, {});
}

Hold Client::Reserve(const std::string& namespace_name, const std::string& resource,
                     const std::string& subject, const ReserveOptions& options) {
  return Hold(core_->Reserve({namespace_name, resource, subject}, options));
}

Hold Client::Seize(const std::string& transfer, uint64_t copies) {
  return Hold(core_->Seize(transfer, copies));
}

Acquired Client::AcquireAll(const std::vector<Wanted>& wanted, const AcquireOptions& options) {
  return Acquirer(*core_, options).Acquire(wanted);
}

bool Client::degraded() const { return core_->degraded(); }
Counters Client::counters() const { return core_->counters(); }

}  // namespace weir::client

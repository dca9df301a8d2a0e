#include "weir/client/hold.h"

#include <utility>

#include "clients/cpp/src/core.h"
#include "clients/cpp/src/hold_state.h"

namespace weir::client {

Hold::Hold(std::shared_ptr<HoldState> state) : state_(std::move(state)) {}

Hold& Hold::operator=(Hold&& other) noexcept {
  Hold gone(std::move(*this));
  state_ = std::move(other.state_);
  return *this;
}

Hold::~Hold() {
  if (state_) state_->core().GiveBack(*state_);
}

bool Hold::allowed() const { return reservation().allowed; }
uint64_t Hold::copies() const { return state_->copies(); }
uint64_t Hold::granted() const { return reservation().granted; }
bool Hold::lost() const { return state_->lost(); }
Duration Hold::waited() const { return state_->facts().waited; }
int Hold::attempts() const { return state_->facts().attempts; }
Source Hold::source() const { return state_->facts().source; }
uint64_t Hold::remaining() const { return reservation().remaining(); }
const Reservation& Hold::reservation() const { return state_->facts().reservation; }
const std::string& Hold::namespace_name() const { return state_->facts().target.namespace_name; }
const std::string& Hold::resource() const { return state_->facts().target.resource; }
const std::string& Hold::subject() const { return state_->facts().target.subject; }

uint64_t Hold::Release(std::optional<uint64_t> copies) {
  return state_->core().Release(*state_, copies);
}

std::string Hold::Transfer(std::optional<uint64_t> copies, Duration time_to_live) {
  return state_->core().Transfer(*state_, copies, time_to_live);
}

const Hold& Hold::ThrowIfRefused() const {
  if (allowed()) return *this;
  throw Refused(resource() + ": " + std::string(OutcomeName(reservation().outcome)));
}

}  // namespace weir::client

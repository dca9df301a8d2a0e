#include "limiter/call.h"

#include <cassert>

#include "limiter/late.h"

namespace weir {

DecideCall::DecideCall(Executor* the_home) : home(the_home) {}
DecideCall::~DecideCall() { assert(!waits()); }
bool DecideCall::waits() const { return late_ != nullptr && late_->waits; }

DescriptorCall::DescriptorCall(Executor* the_home) : home(the_home) {}
DescriptorCall::~DescriptorCall() { assert(late_ == nullptr || !late_->waits); }

SettleCall::SettleCall(Executor* the_home) : home(the_home) {}
SettleCall::~SettleCall() { assert(elsewhere_ == nullptr && (late_ == nullptr || !late_->waits)); }

}  // namespace weir

#include "clients/cpp/src/acquirer.h"

#include <algorithm>
#include <utility>

namespace weir::client {
namespace {

void Check(const std::vector<Wanted>& wanted, const AcquireOptions& options) {
  if (wanted.empty()) throw Error(Code::kBadRequest, "there is no resource to acquire");
  if (options.min < 1 || options.min > options.max) {
    throw Error(Code::kBadRequest, "min is " + std::to_string(options.min) + " and max is " +
                                       std::to_string(options.max) + ": 1 <= min <= max is right");
  }
  const auto is_rate = [](const Wanted& one) { return std::holds_alternative<Rate>(one); };
  if (std::any_of(wanted.begin(), wanted.end() - 1, is_rate)) {
    throw Error(Code::kBadRequest, "at most one resource is a Rate, and that one is the last");
  }
}

}  // namespace

Acquirer::Acquirer(Core& core, const AcquireOptions& options)
    : core_(core), options_(options), start_(core.clock().Now()) {}

Acquired Acquirer::Acquire(const std::vector<Wanted>& wanted) {
  Check(wanted, options_);
  acquired_.copies = options_.max;
  for (const Wanted& one : wanted) {
    acquired_.copies = std::visit([&](const auto& what) { return Ask(what); }, one);
    if (acquired_.copies == 0) {
      acquired_.refused_by = std::visit([](const auto& what) { return what.resource; }, one);
      acquired_.holds.clear();
      break;
    }
    GiveBackSurplus();
  }
  acquired_.waited = core_.clock().Now() - start_;
  return std::move(acquired_);
}

uint64_t Acquirer::Ask(const Copies& wanted) {
  Hold hold(
      core_.Reserve({wanted.namespace_name, wanted.resource, wanted.subject},
                    {.copies = acquired_.copies, .min_copies = options_.min, .max_wait = Left()}));
  if (!hold.allowed()) return 0;
  acquired_.holds.push_back(std::move(hold));
  return acquired_.holds.back().granted();
}

uint64_t Acquirer::Ask(const Rate& wanted) {
  acquired_.decision =
      core_.Request({wanted.namespace_name, wanted.resource, wanted.subject},
                    {.cost = acquired_.copies, .min_cost = options_.min, .max_wait = Left()});
  return acquired_.decision->allowed ? acquired_.decision->granted : 0;
}

Duration Acquirer::Left() const {
  return std::max(Duration::zero(), options_.max_wait - (core_.clock().Now() - start_));
}

void Acquirer::GiveBackSurplus() {
  for (Hold& hold : acquired_.holds) {
    const uint64_t copies = hold.copies();
    if (copies > acquired_.copies) core_.GiveBack(*hold.state_, copies - acquired_.copies);
  }
}

bool Acquired::lost() const {
  return std::any_of(holds.begin(), holds.end(), [](const Hold& hold) { return hold.lost(); });
}

const Acquired& Acquired::ThrowIfRefused() const {
  if (allowed()) return *this;
  throw Refused("by " + refused_by);
}

}  // namespace weir::client

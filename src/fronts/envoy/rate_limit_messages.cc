#include "fronts/envoy/rate_limit_messages.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "fronts/envoy/dynamic_metadata.h"

namespace weir {
namespace {

using envoy::extensions::common::ratelimit::v3::RateLimitDescriptor;
using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using Status = RateLimitResponse::DescriptorStatus;

// What one thread needs for one request.
struct Scratch {
  std::vector<DescriptorEntry> entries;
  std::vector<Descriptor> descriptors;
};

uint32_t Capped(uint64_t n) {
  return static_cast<uint32_t>(std::min<uint64_t>(n, std::numeric_limits<uint32_t>::max()));
}

RateUnit ToUnit(int unit) {
  return unit > 0 && unit <= static_cast<int>(RateUnit::kYear) ? static_cast<RateUnit>(unit)
                                                               : RateUnit::kUnknown;
}

Descriptor ToDescriptor(const RateLimitDescriptor& message,
                        std::span<const DescriptorEntry> entries) {
  Descriptor descriptor;
  descriptor.entries = entries;
  if (message.has_limit()) {
    descriptor.limit = {message.limit().requests_per_unit(), ToUnit(message.limit().unit())};
  }
  if (message.has_hits_addend()) descriptor.hits_addend = message.hits_addend().value();
  descriptor.is_negative_hits = message.is_negative_hits();
  return descriptor;
}

// Views into the message and into the scratch.
DescriptorRequest ToDescriptorRequest(const RateLimitRequest& message, Scratch& scratch) {
  scratch.entries.clear();
  scratch.descriptors.clear();
  for (const RateLimitDescriptor& descriptor : message.descriptors()) {
    for (const RateLimitDescriptor::Entry& entry : descriptor.entries()) {
      scratch.entries.push_back({entry.key(), entry.value()});
    }
  }
  // Only now, for the vector moved while it grew.
  size_t at = 0;
  for (const RateLimitDescriptor& descriptor : message.descriptors()) {
    const auto count = static_cast<size_t>(descriptor.entries_size());
    scratch.descriptors.push_back(
        ToDescriptor(descriptor, std::span(scratch.entries).subspan(at, count)));
    at += count;
  }
  DescriptorRequest request;
  request.domain = message.domain();
  request.descriptors = scratch.descriptors;
  request.hits_addend = message.hits_addend() == 0 ? 1 : message.hits_addend();
  return request;
}

int64_t SecondsUp(Duration time) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
  return seconds.count() + (time > seconds ? 1 : 0);
}

// Over what was there: Clear() would free the messages within, which the next response needs again.
void FillStatus(const DescriptorStatus& status, Status& message) {
  const bool over = status.over && !status.shadow;
  message.set_code(over ? RateLimitResponse::OVER_LIMIT : RateLimitResponse::OK);
  message.set_limit_remaining(status.limited ? Capped(status.remaining) : 0);
  if (!status.limited || status.unlimited) {
    message.clear_current_limit();
    message.clear_duration_until_reset();
    return;
  }
  RateLimitResponse::RateLimit& limit = *message.mutable_current_limit();
  limit.set_requests_per_unit(Capped(status.limit));
  limit.set_unit(static_cast<RateLimitResponse::RateLimit::Unit>(status.unit));
  limit.mutable_name()->assign(status.name);
  google::protobuf::Duration& reset = *message.mutable_duration_until_reset();
  reset.set_seconds(status.reset_after.count() / 1'000'000'000);
  reset.set_nanos(static_cast<int32_t>(status.reset_after.count() % 1'000'000'000));
}

// The one with the least left; of those that are over, the last.
const DescriptorStatus* Scarcest(const std::vector<DescriptorStatus>& statuses) {
  const DescriptorStatus* scarcest = nullptr;
  for (const DescriptorStatus& status : statuses) {
    if (!status.limited || status.unlimited) continue;
    const bool over = status.over && !status.shadow;
    if (scarcest == nullptr || over || status.remaining < scarcest->remaining) scarcest = &status;
  }
  return scarcest;
}

void AddHeader(const std::string& name, uint64_t value, RateLimitResponse& response) {
  envoy::config::core::v3::HeaderValue& header = *response.add_response_headers_to_add();
  header.set_key(name);
  header.set_value(std::to_string(value));
}

}  // namespace

void FillResponse(const DescriptorDecision& decision, const EnvoyOptions& options,
                  RateLimitResponse& response) {
  response.set_overall_code(decision.over ? RateLimitResponse::OVER_LIMIT : RateLimitResponse::OK);
  const int count = static_cast<int>(decision.statuses.size());
  while (response.statuses_size() > count) response.mutable_statuses()->RemoveLast();
  while (response.statuses_size() < count) response.add_statuses();
  response.clear_response_headers_to_add();
  response.clear_dynamic_metadata();
  for (int i = 0; i < count; ++i) {
    const DescriptorStatus& status = decision.statuses[static_cast<size_t>(i)];
    FillStatus(status, *response.mutable_statuses(i));
    if (status.metadata != nullptr) {
      MergeMetadata(*status.metadata, *response.mutable_dynamic_metadata());
    }
  }
  if (decision.degraded) {
    (*response.mutable_dynamic_metadata()->mutable_fields())["weir.degraded"].set_bool_value(true);
  }
  if (!options.headers) return;
  if (const DescriptorStatus* status = Scarcest(decision.statuses)) {
    // As decision_headers.h tells them of other requests.
    const Duration reset =
        status->over ? std::min(status->reset_after, status->retry_after) : status->reset_after;
    AddHeader(options.limit_header, Capped(status->capacity), response);
    AddHeader(options.remaining_header, Capped(status->remaining), response);
    AddHeader(options.reset_header, static_cast<uint64_t>(SecondsUp(reset)), response);
  }
}

void Ask(const RateLimitRequest& message, DescriptorCall& call) {
  thread_local Scratch scratch;
  call.request = ToDescriptorRequest(message, scratch);
}

}  // namespace weir

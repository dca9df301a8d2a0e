// The calls of a connection: found, taken from a pool, given back to it; and who may make them.
#include "fronts/grpc/http2_session.h"
#include "fronts/letters.h"

namespace weir {

GrpcCall* Http2Session::Find(int32_t stream) {
  if (last_ != nullptr && last_->id == stream) return last_;
  last_ = static_cast<GrpcCall*>(nghttp2_session_get_stream_user_data(session_, stream));
  return last_;
}

GrpcCall& Http2Session::TakeCall(int32_t stream) {
  if (pool_.empty()) {
    calls_.push_back(std::make_unique<GrpcCall>(*this));
    held_ += calls_.back()->heap_bytes();
    pool_.push_back(calls_.back().get());
  }
  GrpcCall& call = *pool_.back();
  pool_.pop_back();
  call.id = stream;
  open_ += 1;
  return call;
}

void Http2Session::GiveBack(GrpcCall& call) {
  if (last_ == &call) last_ = nullptr;
  open_ -= 1;
  held_out_ -= call.unsent();
  call.finished = true;
  AbandonWaiter(call);
  if (call.streaming) {
    call.streaming->OnEnd(*now_);
    ended_.push_back(std::move(call.streaming));
  }
  const size_t before = call.heap_bytes();
  call.Clear();
  held_ -= before - call.heap_bytes();
  pool_.push_back(&call);
}

// The call is over without the answer that was awaited.
void Http2Session::AbandonWaiter(GrpcCall& call) {
  Waiter* const waiter = std::exchange(call.waiter, nullptr);
  if (waiter != nullptr) waiter->Abandoned(*now_);
}

// Idle connections keep nothing for calls to come.
void Http2Session::DropPool() {
  for (const auto& call : calls_) held_ -= call->heap_bytes();
  last_ = nullptr;
  pool_.clear();
  pool_.shrink_to_fit();
  calls_.clear();
  calls_.shrink_to_fit();
  ended_.clear();
}

namespace {

std::string_view TokenOf(const GrpcCall& call) {
  constexpr std::string_view kBearer = "bearer ";
  std::string_view token = call.metadata.Find("authorization").value_or("");
  if (!IsWord(token.substr(0, kBearer.size()), kBearer)) return {};
  token.remove_prefix(kBearer.size());
  while (token.starts_with(' ')) token.remove_prefix(1);
  return token;
}

}  // namespace

const Reach* Http2Session::ReachNow(const GrpcCall& call) const {
  return options_.policy == nullptr ? &kEverywhere : options_.policy->ReachOf(TokenOf(call));
}

bool Http2Session::StillMay(GrpcCall& call) {
  if (options_.policy == nullptr || call.policy_version == 0 || call.finished) return true;
  const uint64_t version = options_.policy->version().load(std::memory_order_acquire);
  return version == call.policy_version || May(call);
}

bool Http2Session::May(GrpcCall& call) {
  const std::string_view token = TokenOf(call);
  const Asker who{.token = token};
  call.policy_version = options_.policy->version().load(std::memory_order_acquire);
  if (call.method->what == Operation::kDecide) {
    call.reach = options_.policy->ReachOf(token);
    if (call.reach != nullptr) return true;
    call.reach = &kNowhere;
  } else if (options_.policy->MaySomewhere(call.method->what, who)) {
    return true;
  }
  const Code why = options_.policy->WhyNot(who);
  Finish(call, ToGrpcStatus(why, why == Code::kForbidden
                                     ? kNotThisToken
                                     : "a token is needed: authorization: Bearer TOKEN"));
  return false;
}

}  // namespace weir

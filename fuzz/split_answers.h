// What the fuzz targets of the text protocols share: the same bytes, sent at once and in two parts,
// are answered alike.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/manual_executor.h"
#include "fronts/protocol.h"
#include "weir/limiter.h"

namespace weir::fuzz {

inline constexpr Instant kNow = FromNanos(1'800'000'000'000'000'000);

// Two of them, asked the same things, say the same. New for each input: what it does depends on it
// alone, and nothing it left looks like a leak.
inline std::unique_ptr<Limiter> NewLimiter() {
  constexpr std::string_view kRules = R"(
namespaces:
  n:
    resources:
      a: {limits: [{name: x, limit: 5, per: 1s}, {name: y, limit: 9, per: 1d, shadow: true}]}
      b: {tiers: {hard_limit: 9, tiers: [{limit: 3, window: 1s, active: 60s, cooldown: 0s}]}}
      c: {copies: {per_subject: 1}}
)";
  static std::string errors;
  static const auto rules = ParseRules(kRules, &errors);
  LimiterOptions options;
  options.secret = {1, 2};
  options.memory_bytes = uint64_t{4} << 20;
  return std::make_unique<Limiter>(rules, options, kNow);
}

// Whether an answer names something by chance: two limiters do not choose alike.
inline bool NamesByChance(std::string_view answers) {
  for (const std::string_view field : {"ticket", "hold", "transfer", "session"}) {
    if (answers.find(field) != std::string_view::npos) return true;
  }
  return false;
}

class FuzzLink : public Link {
 public:
  // From loopback: a peer of which more is looked at.
  explicit FuzzLink(Front& front) : protocol_(front.Accept(*this)) { from_loopback_ = true; }
  ~FuzzLink() override { protocol_->Closed(Turn(clock_)); }
  void Flush() override {}
  void FlushSoon() override {}
  Executor& executor() override { return executor_; }
  Clock& clock() override { return clock_; }
  std::string_view peer() const override { return "192.0.2.7"; }

  void Send(std::string_view bytes) {
    unread_.append(bytes);
    for (bool more = true; more;) {
      // In a place of its own, so that the sanitizers see every step over its edge.
      const std::vector<char> offered(unread_.begin(), unread_.end());
      const size_t used = protocol_->Receive({offered.data(), offered.size()}, Turn(clock_));
      if (used > offered.size()) std::abort();
      unread_.erase(0, used);
      more = !out_.empty() && !unread_.empty();
      written_ += out_;
      out_.clear();
    }
  }
  const std::string& written() const { return written_; }
  bool done() const { return protocol_->done(); }

 private:
  std::string unread_, written_;
  ManualClock clock_{kNow};
  ManualExecutor executor_{clock_};
  std::unique_ptr<Protocol> protocol_;
};

// The first two bytes say where to split.
struct Split {
  std::string_view all, first, second;
  explicit Split(std::string_view data) {
    if (data.size() < 2) return;
    all = data.substr(2);
    const size_t at =
        static_cast<unsigned char>(data[0]) + 256u * static_cast<unsigned char>(data[1]);
    first = all.substr(0, at % (all.size() + 1));
    second = all.substr(first.size());
  }
};

}  // namespace weir::fuzz

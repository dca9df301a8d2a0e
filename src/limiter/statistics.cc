// What the limiter tells about itself.
#include "limiter/limiter_impl.h"

namespace weir {
namespace {

std::string AccuracyOf(const Limit& limit) {
  if (const auto* window = std::get_if<SlidingWindow>(&limit)) {
    return "exact but for the oldest of " + std::to_string(window->slices) + " slices";
  }
  switch (limit.index()) {
    case 0: return "what was used and is not refilled yet; what was refilled is forgotten";
    case 1: return "exact since the window began; what was before is forgotten";
    case 2: return "exact";
    default: return "exact within the window of the current tier";
  }
}

uint64_t CapacityOf(const RuleLimit& rule) {
  if (rule.unlimited) return kUnlimited;
  if (const auto* bucket = std::get_if<TokenBucket>(&rule.limit)) return bucket->burst;
  return Numbers(rule.limit).most;
}

LimitUse UseOf(const RuleLimit& rule, const LimitStatus& status) {
  LimitUse use;
  use.name = rule.name;
  use.algorithm = AlgorithmName(rule.limit);
  use.capacity = CapacityOf(rule);
  use.remaining = status.remaining;
  use.used = use.capacity > use.remaining && !rule.unlimited ? use.capacity - use.remaining : 0;
  use.per = status.per;
  use.reset_after = status.reset_after;
  use.refuses = status.refused;
  use.shadow = status.shadow;
  use.accuracy = rule.unlimited ? "" : AccuracyOf(rule.limit);
  return use;
}

}  // namespace

// Once in every second, whoever calls.
void Limiter::Impl::Sample(Instant now) {
  const int64_t second = SecondOf(now) - 1;  // the one that is just over
  int64_t last = sampled_second_.load(std::memory_order_relaxed);
  if (second <= last || !sampled_second_.compare_exchange_strong(last, second)) return;
  for (Tally* tally : InForce().tallies()) {
    if (tally != nullptr) tally->Sample(second);
  }
}

SubjectReport Limiter::Impl::Report(std::string_view ns, std::string_view resource,
                                    std::string_view subject, Instant told) {
  SubjectReport report;
  const Request request{ns, resource, subject};
  Decide(request, told, Mode::kLook, report.now);
  report.error = report.now.error;
  report.message = report.now.message;
  if (report.error != Code::kOk) return report;
  const RulesInForce& rules = InForce();
  const Match match = rules.rules().Match(ns, resource, subject);
  const std::span<const LimitStatus> statuses = report.now.limits();
  size_t i = 0;
  for (const std::span<const RuleLimit> limits : {match.limits, match.contract}) {
    for (const RuleLimit& rule : limits) {
      if (i < statuses.size()) report.limits.push_back(UseOf(rule, statuses[i++]));
    }
  }
  if (match.resource == nullptr) return report;
  const int64_t last = SecondOf(time_.Of(told)) - 1;
  Tally& tally = rules.TallyOf(*match.resource);
  const auto asked = tally.busiest.Past(subject, last);
  report.among_busiest = asked.has_value();
  if (!asked) return report;
  report.history = *asked;
  if (const auto refused = tally.refused.Past(subject, last)) {
    const auto subtract = [](std::vector<Counts>& all, const std::vector<Counts>& refusals) {
      for (size_t k = 0; k < all.size(); ++k) {
        all[k].refused = std::min(refusals[k].admitted, all[k].admitted);
        all[k].admitted -= all[k].refused;
      }
    };
    subtract(report.history.seconds, refused->seconds);
    subtract(report.history.minutes, refused->minutes);
  }
  return report;
}

LimiterCounts Limiter::Impl::AllCounts() {
  LimiterCounts all;
  all.adhoc = adhoc_counts_.Sum();
  const RulesInForce& rules = InForce();
  for (const auto& ns : rules.rules().namespaces()) {
    for (const Resource& resource : ns.resources()) {
      ResourceCounts counts{ns.terms.name, resource.name, rules.TallyOf(resource).counts.Sum(), {}};
      for (const auto& limit : rules.LimitTalliesOf(resource)) {
        counts.limits.push_back({limit->name, limit->refused.load(), limit->would_refuse.load()});
      }
      all.resources.push_back(std::move(counts));
    }
  }
  for (const RuleLimit* limit : rules.rules().all()) {
    const LimitTally* tally = limit == nullptr ? nullptr : rules.DescriptorTallyOf(*limit);
    if (tally == nullptr) continue;
    all.descriptors.push_back({limit->identity[0], tally->name, tally->ok.load(),
                               tally->refused.load(), tally->would_refuse.load()});
  }
  return all;
}

std::optional<History> Limiter::Impl::Past(std::string_view ns, std::string_view resource,
                                           Instant told) {
  const RulesInForce& rules = InForce();
  const Resource* found = rules.rules().FindResource(ns, resource);
  if (found == nullptr) return std::nullopt;
  return rules.TallyOf(*found).Past(SecondOf(time_.Of(told)) - 1);
}

}  // namespace weir

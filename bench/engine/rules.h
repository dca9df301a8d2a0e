// The rules under which the limiter is measured: a namespace with a resource for each algorithm,
// and one whose subjects have a contract of three limits.
#pragma once

#include <string_view>

namespace weir::bench {

inline constexpr std::string_view kRules = R"(
namespaces:
  bench:
    resources:
      token_bucket:   {limits: [{algorithm: token_bucket, limit: 1000, per: 1m}]}
      fixed_window:   {limits: [{algorithm: fixed_window, limit: 1000, per: 1m}]}
      sliding_window: {limits: [{algorithm: sliding_window, limit: 1000, per: 1m}]}
      sliding_log:    {limits: [{algorithm: sliding_log, limit: 100, per: 1m}]}
      burst_tiers:
        tiers:
          tiers:
            - {limit: 50, window: 1s, active: 60s, cooldown: 0s}
            - {limit: 90, window: 1s, active: 10s, cooldown: 300s, skippable: true}
  contract:
    default_contract: standard
    resources:
      api: {limits: [{name: per_second, limit: 50, per: 1s, burst: 100}]}
    contracts:
      standard:
        limits:
          - {name: per_minute, limit: 1000, per: 1m}
          - {name: per_day, limit: 100000, per: 1d}
)";

inline constexpr std::string_view kReplicatedRules = R"(
namespaces:
  bench:
    resources:
      replicated: {limits: [{limit: 1000, per: 1m, coordination: replicated}]}
)";

}  // namespace weir::bench

// The local safe rate: a token bucket for each resource, of which a bounded number is remembered.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "weir/client/options.h"

namespace weir::client {

class SafeBuckets {
 public:
  using Resource = std::pair<std::string, std::string>;  // namespace, resource

  explicit SafeBuckets(const SafeRate& rate);

  // How long until there is enough: zero if it was taken, nothing for never.
  std::optional<Duration> Take(const Resource& resource, uint64_t amount, Duration now);
  std::optional<Duration> Peek(const Resource& resource, uint64_t amount, Duration now);

 private:
  struct Bucket {
    Resource resource;
    double tokens;
    Duration since;
  };
  std::optional<Duration> Ask(const Resource& resource, double amount, Duration now, bool take);
  Bucket& Find(const Resource& resource, Duration now);

  const double per_second_, burst_;
  const size_t most_;
  std::mutex mutex_;           // guards:
  std::list<Bucket> buckets_;  // the longest unused last
  std::map<Resource, std::list<Bucket>::iterator> places_;
};

}  // namespace weir::client

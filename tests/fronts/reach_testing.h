// What the tests of reach share: two namespaces alike, and who may ask in which.
#pragma once

#include <gtest/gtest.h>

#include "fronts/access.h"
#include "tests/limiter/testing.h"

namespace weir::testing {

inline constexpr std::string_view kTwo = R"(
namespaces:
  mine:
    resources:
      rate: {limits: [{limit: 100, per: 1h}]}
      free: {limits: [{limit: unlimited}]}
      box: {copies: {per_subject: 50}}
      one: {copies: {per_subject: 1}}
    descriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 100}}]
  theirs:
    resources:
      rate: {limits: [{limit: 100, per: 1h}]}
      free: {limits: [{limit: unlimited}]}
      box: {copies: {per_subject: 50}}
    descriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 100}}]
)";

// `m`: of the namespace mine; `all`: of all; `metrics`: known, and nowhere.
class ReachPolicy : public AccessPolicy {
 public:
  bool May(Operation what, std::string_view ns, const Asker& who) const override {
    if (what == Operation::kHealth || what == Operation::kDescribe) return true;
    const Reach* reach = ReachOf(who.token);
    return reach != nullptr && (ns.empty() ? reach->all : reach->Has(ns));
  }
  bool MaySomewhere(Operation what, const Asker& who) const override {
    return what == Operation::kHealth || what == Operation::kDescribe ||
           ReachOf(who.token) != nullptr;
  }
  const Reach* ReachOf(std::string_view token) const override {
    if (token == gone_) return nullptr;
    if (token == moved_) return &theirs_;
    return token == "m" ? &mine_ : token == "all" ? &kEverywhere : nullptr;
  }
  Code WhyNot(const Asker& who) const override {
    const bool known = who.token == "m" || who.token == "all" || who.token == "metrics";
    return known && who.token != gone_ ? Code::kForbidden : Code::kUnauthenticated;
  }
  const std::atomic<uint64_t>& version() const override { return version_; }

  // The tokens are read again, and this one is not there any more, or is for the other namespace.
  void TakeAway(std::string token) { gone_ = std::move(token), version_ += 1; }
  void Move(std::string token) { moved_ = std::move(token), version_ += 1; }

 private:
  std::string gone_ = "none", moved_ = "none";
  std::atomic<uint64_t> version_{1};
  const Reach theirs_{.namespaces = {"theirs"}};
  const Reach mine_{.namespaces = {"another", "mine"}};
};

// What was used in the other namespace, of the subject of all questions: nothing may ever be.
class ReachTest : public ::testing::Test {
 protected:
  uint64_t Used(Limiter& limiter, std::string_view ns) {
    return 100 - limiter.Peek({ns, "rate", "ann"}, kStart).remaining;
  }
  ReachPolicy policy_;
};

}  // namespace weir::testing

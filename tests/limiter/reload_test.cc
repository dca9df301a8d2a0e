// Rules that were changed in place decide as rules that were read anew: what was used stays used, what
// was counted stays counted, whatever is shared between one rulebook and the next.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "rules/read/parse.h"
#include "tests/limiter/testing.h"

namespace weir::reload_test {
namespace {

using testing::kStart;

// A namespace by its resources, in YAML's flow style.
struct Model {
  std::map<std::string, std::map<std::string, std::string>> namespaces;

  static std::string Text(const std::map<std::string, std::string>& resources,
                          const std::string& more) {
    std::string text = "{" + more + "resources: {";
    for (const auto& [name, fields] : resources) text += name + ": {" + fields + "}, ";
    return text + "}}";
  }
  std::string more(const std::string& ns) const {
    const auto found = terms.find(ns);
    return found == terms.end() ? "" : found->second;
  }
  std::string File() const {
    std::string text = "namespaces: {";
    for (const auto& [ns, resources] : namespaces)
      text += ns + ": " + Text(resources, more(ns)) + ", ";
    return text + "}";
  }
  std::vector<Namespace> Read(const std::string& ns,
                              const std::map<std::string, std::string>& resources) const {
    NamespacesRead read =
        ReadNamespaces("namespaces: {" + ns + ": " + Text(resources, more(ns)) + "}", "rules");
    EXPECT_TRUE(read.errors.empty()) << ToString(read.errors);
    return std::move(read.namespaces);
  }
  std::map<std::string, std::string> terms;  // contracts and descriptors
};

std::string RandomFields(const std::function<uint64_t(uint64_t)>& dice) {
  // One draw a statement: in the same order whatever compiles it.
  const auto limit = [&](const char* name) {
    std::string text = std::string("{name: ") + name;
    text += ", limit: " + std::to_string(1 + dice(5));
    text += dice(2) == 0 ? ", per: 1h" : ", per: 1m";
    text += dice(5) == 0 ? ", shadow: true" : "";
    text += dice(3) == 0 ? ", persist: true}" : "}";
    return text;
  };
  std::string text = "limits: [" + limit("x");
  if (dice(2) == 0) text += ", " + limit("y");
  text += "]";
  if (dice(2) == 0) {
    const std::string number = dice(3) == 0 ? "unlimited" : std::to_string(1 + dice(5));
    text += ", overrides: [{subject: ann, limits: [{name: x, limit: " + number + "}]}]";
  }
  return text;
}

std::string RandomTerms(const std::function<uint64_t(uint64_t)>& dice) {
  if (dice(2) == 0) return "";
  const std::string gold = std::to_string(1 + dice(5)), descriptor = std::to_string(1 + dice(9));
  return "contracts: {gold: {subjects: [bob], limits: [{name: g, limit: " + gold +
         ", per: 1h}]}}, descriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: " +
         descriptor + "}}], ";
}

std::string Shown(const Decision& d) {
  std::string text = std::to_string(static_cast<int>(d.error)) + (d.allowed ? " yes " : " no ") +
                     std::string(d.limit);
  for (const LimitStatus& one : d.limits()) {
    text += " " + std::string(one.name) + ":" + std::to_string(one.limit) + "/" +
            std::to_string(one.remaining) + "/" + std::to_string(one.reset_after.count());
  }
  return text;
}

std::string Counted(const Limiter& limiter) {
  std::map<std::string, std::string> all;
  const LimiterCounts counts = limiter.AllCounts();
  for (const ResourceCounts& one : counts.resources) {
    std::string& text = all[one.namespace_name + "/" + one.resource];
    text = std::to_string(one.total.admitted) + "," + std::to_string(one.total.refused);
    for (const LimitCounts& limit : one.limits) {
      text += " " + limit.limit + ":" + std::to_string(limit.refused) + "," +
              std::to_string(limit.would_refuse);
    }
  }
  for (const auto& one : counts.descriptors) {
    all["descriptor " + one.namespace_name + "/" + one.rule] =
        std::to_string(one.ok) + "," + std::to_string(one.over);
  }
  std::string text;
  for (const auto& [name, numbers] : all) text += name + ": " + numbers + "\n";
  return text;
}

TEST(Reload, RulesChangedInPlaceDecideAndCountAsRulesReadAnew) {
  std::mt19937_64 draws(5);
  const std::function<uint64_t(uint64_t)> dice = [&](uint64_t n) { return draws() % n; };
  for (int round = 0; round < 20; ++round) {
    Model model;
    auto book = testing::Rules(model.File());
    Limiter changed(book, {}, kStart), read(book, {}, kStart);
    Instant now = kStart;
    for (int step = 0; step < 60; ++step) {
      const std::string ns(1, static_cast<char>('a' + dice(2)));
      const std::string resource(1, static_cast<char>('p' + dice(3)));
      auto& resources = model.namespaces[ns];
      const uint64_t what = dice(6);
      if (book->FindNamespace(ns) == nullptr || what == 0) {
        model.terms[ns] = RandomTerms(dice);
        resources[resource] = RandomFields(dice);
        book = book->With(model.Read(ns, resources), {});
      } else if (what == 1) {
        const std::string gone[] = {ns};
        model.namespaces.erase(ns);
        model.terms.erase(ns);
        book = book->With({}, gone);
      } else if (what == 2) {
        resources.erase(resource);
        book = book->WithoutResource(ns, resource);
      } else {
        resources[resource] = RandomFields(dice);
        book = book->WithResource(
            std::move(model.Read(ns, {{resource, resources[resource]}}).at(0).resources.at(0)));
      }
      if (dice(3) != 0) {  // not every one is installed: several may change at once
        changed.Install(book, now);
        read.Install(testing::Rules(model.File()), now);
      }
      for (int i = 0; i < 10; ++i) {
        const std::string who[] = {"ann", "bob", "eve"};
        const std::string of[] = {"p", "q", "r"}, where[] = {"a", "b"};
        const Request request{where[dice(2)], of[dice(3)], who[dice(3)]};
        ASSERT_EQ(Shown(changed.Decide(request, now)), Shown(read.Decide(request, now)))
            << round << " " << step << " " << model.File();
        const DescriptorEntry entry{"k", who[dice(3)]};
        const Descriptor descriptor{.entries = {&entry, 1}};
        DescriptorDecision one, other;
        const std::string& domain = where[dice(2)];
        changed.DecideDescriptors({domain, {&descriptor, 1}, 1}, now, one);
        read.DecideDescriptors({domain, {&descriptor, 1}, 1}, now, other);
        ASSERT_EQ(one.over, other.over);
      }
      ASSERT_EQ(Counted(changed), Counted(read)) << model.File();
      std::vector<std::string> persistent = changed.PersistentLimits(),
                               same = read.PersistentLimits();
      std::sort(persistent.begin(), persistent.end());
      std::sort(same.begin(), same.end());
      ASSERT_EQ(persistent, same);
      now += std::chrono::seconds(dice(40));
    }
  }
}

std::string WithLimits(const std::string& fields) {
  return "namespaces: {n: {resources: {other: {limits: []}" +
         (fields.empty() ? "" : ", r: {" + fields + "}") + "}}}";
}

// Installs rules as they are read, or by changing the resource in place.
void Install(Limiter& limiter, const std::string& fields, bool in_place, Instant now = kStart) {
  const auto read = testing::Rules(WithLimits(fields));
  if (!in_place) return limiter.Install(read, now);
  const auto book = limiter.rules();
  const Resource* resource = read->FindResource("n", "r");
  limiter.Install(
      resource == nullptr ? book->WithoutResource("n", "r") : book->WithResource(*resource), now);
}

TEST(Reload, WhatIsTakenAwayAndComesBackKeepsItsUse) {
  for (const bool in_place : {false, true}) {
    const auto limiter = testing::Open(WithLimits("limits: [{name: x, limit: 5, per: 1h}]"));
    for (int i = 0; i < 4; ++i) limiter->Decide({"n", "r", "u"}, kStart);
    Install(*limiter, "", in_place);
    EXPECT_EQ(limiter->Decide({"n", "r", "u"}, kStart).error, Code::kUnknownResource);
    Install(*limiter, "limits: [{name: x, limit: 5, per: 1h}]", in_place);
    EXPECT_EQ(limiter->Peek({"n", "r", "u"}, kStart).remaining, 1u) << in_place;
    Install(*limiter, "limits: []", in_place);
    Install(*limiter, "limits: [{name: x, limit: 10, per: 1h}]", in_place);
    EXPECT_EQ(limiter->Peek({"n", "r", "u"}, kStart).remaining, 6u) << "under other numbers";
    EXPECT_EQ(limiter->Peek({"n", "r", "other"}, kStart).remaining, 10u);
  }
}

TEST(Reload, WhatIsChangedKeepsItsUse) {
  for (const bool in_place : {false, true}) {
    const auto limiter = testing::Open(WithLimits("limits: [{name: x, limit: 5, per: 1h}]"));
    for (int i = 0; i < 3; ++i) limiter->Decide({"n", "r", "u"}, kStart);
    Install(*limiter, "limits: [{name: x, limit: 9, per: 1h}]", in_place);
    EXPECT_EQ(limiter->Peek({"n", "r", "u"}, kStart).remaining, 6u) << in_place;
    const std::string overridden =
        "limits: [{name: x, limit: 9, per: 1h}], overrides: [{subject: u, limits: [{name: x, "
        "limit: 20}]}]";
    Install(*limiter, overridden, in_place);
    limiter->Decide({"n", "r", "u", 10}, kStart);
    Install(*limiter, "limits: [{name: x, limit: 15, per: 1h}]", in_place);
    EXPECT_LE(limiter->Peek({"n", "r", "u"}, kStart).remaining, 5u)
        << "what was used under an override is used without it";
  }
}

// Many come and go, and none of them is kept for ever.
TEST(Reload, LimitsThatAreGoneAndEmptyAreForgotten) {
  const auto limiter = testing::Open("namespaces: {n: {resources: {r: {limits: []}}}}");
  auto book = limiter->rules();
  Instant now = kStart;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "t" + std::to_string(i);
    NamespacesRead read = ReadNamespaces(
        "namespaces: {n: {resources: {" + name + ": {limits: [{name: x, limit: 1, per: 1s}]}}}}",
        "");
    book = book->WithResource(std::move(read.namespaces.at(0).resources.at(0)));
    limiter->Install(book, now);
    EXPECT_TRUE(limiter->Decide({"n", name, "u"}, now).allowed);
    book = book->WithoutResource("n", name);
    limiter->Install(book, now);
    now += std::chrono::milliseconds(10);
  }
  EXPECT_LE(book->all().size(), 2u) << "numbers are used anew";
  EXPECT_LE(book->resource_bound(), 3u);
}

}  // namespace
}  // namespace weir::reload_test

// A rulebook that was made out of another is the one that is read from the same rules, and shares with
// the other what did not change.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "rules/print/print.h"
#include "rules/rulebook.h"
#include "tests/rules/random_rules.h"
#include "tests/rules/rules_text.h"

namespace weir::rulebook_edit_test {
namespace {

using Book = std::shared_ptr<const Rulebook>;

TEST(NameTable, WhatIsErasedIsGoneAndTheOthersAreFound) {
  std::mt19937_64 draws(7);
  for (int round = 0; round < 200; ++round) {
    // Few bits, so that many meet.
    const uint64_t bits = 1 + draws() % 6;
    std::vector<uint64_t> hashes(40);
    for (uint64_t& hash : hashes) hash = (draws() & ((1u << bits) - 1)) | (draws() % 3) << 32;
    NameTable table(hashes.size());
    std::vector<bool> there(hashes.size(), false);
    for (int step = 0; step < 300; ++step) {
      const auto place = static_cast<uint32_t>(draws() % hashes.size());
      if (there[place]) {
        table.Erase(hashes[place], place, [&](uint32_t i) { return hashes[i]; });
      } else {
        table.Add(hashes[place], place);
      }
      there[place] = !there[place];
      for (uint32_t i = 0; i < hashes.size(); ++i) {
        const uint32_t found = table.Find(hashes[i], [&](uint32_t at) { return at == i; });
        ASSERT_EQ(found, there[i] ? i : NameTable::kNone);
      }
    }
  }
}

constexpr const char* kThree = R"(
namespaces:
  a:
    resources:
      one: {limits: [{name: x, limit: 1, per: 1s}], overrides: [{subject: ann, limits: [{name: x, limit: 9}]}]}
      two: {limits: [{name: y, limit: 2, per: 1s}, {name: z, limit: 3, per: 1s}]}
    contracts: {gold: {subjects: [ann], limits: [{name: g, limit: 4, per: 1s}]}}
  b: {resources: {box: {copies: {per_subject: 5, total: 8}}}}
  c: {descriptors: [{key: k, rate_limit: {unit: second, requests_per_unit: 5}}]}
)";

Resource One(const std::string& yaml) {
  NamespacesRead read = ReadNamespaces(yaml, "rules.yaml");
  EXPECT_TRUE(read.errors.empty()) << ToString(read.errors);
  return read.namespaces.at(0).resources.at(0);
}

TEST(RulebookEdit, WhatDidNotChangeIsTheVerySame) {
  const Book before = Good(kThree);
  const Book after = before->WithResource(
      One("namespaces: {a: {resources: {two: {limits: [{name: y, limit: 7, per: 1s}]}}}}"));
  EXPECT_EQ(before->FindResource("a", "one"), after->FindResource("a", "one"));
  EXPECT_EQ(before->FindResource("b", "box"), after->FindResource("b", "box"));
  EXPECT_EQ(before->FindNamespace("a"), after->FindNamespace("a"));
  EXPECT_EQ(before->FindNamespace("c"), after->FindNamespace("c"));
  EXPECT_NE(before->FindResource("a", "two"), after->FindResource("a", "two"));
  EXPECT_EQ(before->FindResource("a", "two")->index, after->FindResource("a", "two")->index);
  EXPECT_EQ(before->Match("a", "two", "x").limits.size(), 2u) << "the old one stays as it is";
  EXPECT_EQ(after->Match("a", "two", "x").limits.size(), 1u);
  EXPECT_EQ(after->limit_count(), before->limit_count() - 1);
  EXPECT_EQ(after->LimitCountOf("a"), before->LimitCountOf("a") - 1);
}

TEST(RulebookEdit, ANamespaceIsReplacedMadeAndTakenAway) {
  const Book before = Good(kThree);
  NamespacesRead read = ReadNamespaces(
      "namespaces: {aa: {resources: {new: {limits: []}}}, b: {resources: {box: {limits: []}}}}",
      "");
  const std::string gone[] = {"a", "none"};
  const Book after = before->With(std::move(read.namespaces), gone);
  std::string names;
  for (const auto& ns : after->namespaces()) names += ns.terms.name + " ";
  EXPECT_EQ(names, "aa b c ");
  EXPECT_EQ(after->FindNamespace("a"), nullptr);
  EXPECT_EQ(after->FindResource("a", "one"), nullptr);
  EXPECT_EQ(after->Match("a", "one", "ann").error, Code::kUnknownNamespace);
  EXPECT_EQ(after->FindResource("b", "box")->kind, Resource::Kind::kRate);
  EXPECT_EQ(after->FindNamespace("c"), before->FindNamespace("c"));
  EXPECT_EQ(before->Match("a", "one", "ann").limits[0].only_for, "ann") << "as it was";
}

// What a request of anybody meets.
std::string Met(const Rulebook& book, std::string_view ns, std::string_view resource,
                std::string_view subject) {
  const Match match = book.Match(ns, resource, subject);
  const CopiesMatch copies = book.MatchCopies(ns, resource, subject);
  std::string text = std::to_string(static_cast<int>(match.error)) + " " +
                     std::to_string(static_cast<int>(copies.error));
  const auto add = [&](const RuleLimit& limit) {
    text += " " + limit.name + "=" + std::to_string(Numbers(limit.limit).most) + limit.only_for +
            (limit.of_tiers ? "T" : "");
    EXPECT_EQ(book.all()[limit.index], &limit);
  };
  for (const RuleLimit& limit : match.limits) add(limit);
  for (const RuleLimit& limit : match.contract) add(limit);
  if (copies.per_subject != nullptr) add(*copies.per_subject);
  if (copies.total != nullptr) add(*copies.total);
  for (const RuleLimit* limit : copies.groups) add(*limit);
  return text;
}

void ExpectSound(const Rulebook& book) {
  size_t limits = 0, resources = 0;
  for (uint32_t i = 0; i < book.all().size(); ++i) {
    if (book.all()[i] == nullptr) continue;
    ++limits;
    EXPECT_EQ(book.all()[i]->index, i);
  }
  EXPECT_EQ(limits, book.limit_count());
  size_t counted = 0;
  for (const auto& ns : book.namespaces()) {
    EXPECT_EQ(book.FindNamespace(ns.terms.name), &ns.terms);
    counted += book.LimitCountOf(ns.terms.name);
    for (const Resource& resource : ns.resources()) {
      ++resources;
      EXPECT_EQ(book.FindResource(ns.terms.name, resource.name), &resource);
      EXPECT_EQ(book.ResourceAt(resource.index), (Rulebook::Numbered{&resource, &ns.terms}));
    }
  }
  EXPECT_EQ(resources, book.resource_count());
  EXPECT_EQ(counted, limits);
}

// Whatever is changed in whatever order, the book is what is read from the whole.
TEST(RulebookEdit, AnyChainOfEditsComesToWhatIsRead) {
  std::mt19937_64 draws(11);
  const auto dice = [&](uint64_t n) { return draws() % n; };
  const ParseOptions options{.cluster = true, .divide = true, .redis = true};
  const auto draw = [&] { return ReadNamespaces(RandomRules(dice), "random", options).namespaces; };
  for (int chain = 0; chain < 15; ++chain) {
    std::map<std::string, Namespace> model;
    for (Namespace& ns : draw()) model.emplace(ns.name, std::move(ns));
    const auto whole = [&] {
      std::vector<Namespace> all;
      for (const auto& [name, ns] : model) all.push_back(ns);
      return std::make_shared<const Rulebook>(std::move(all));
    };
    Book book = whole();
    std::vector<std::pair<Book, std::string>> former;
    for (int step = 0; step < 30; ++step) {
      std::vector<Namespace> drawn = draw();
      if (drawn.empty()) continue;
      Namespace other = drawn.at(dice(drawn.size()));
      const bool known = model.contains(other.name);
      const uint64_t what = dice(4);
      if (what == 0 || !known) {
        book = book->With({other}, {});
        model.insert_or_assign(other.name, std::move(other));
      } else if (what == 1 && dice(3) == 0) {
        const std::string gone[] = {other.name};
        book = book->With({}, gone);
        model.erase(other.name);
      } else {
        std::vector<Resource>& list = model.at(other.name).resources;
        std::sort(list.begin(), list.end(),
                  [](const Resource& a, const Resource& b) { return a.name < b.name; });
        book = book->With({model.at(other.name)}, {});  // in order
        if (other.resources.empty()) continue;
        Resource drawn_one = other.resources.at(dice(other.resources.size()));
        const auto at = std::find_if(list.begin(), list.end(), [&](const Resource& one) {
          return one.name >= drawn_one.name;
        });
        const bool there = at != list.end() && at->name == drawn_one.name;
        if (what == 2 && there) {
          list.erase(at);
          book = book->WithoutResource(other.name, drawn_one.name);
        } else {
          if (there) {
            *at = drawn_one;
          } else {
            list.insert(at, drawn_one);
          }
          book = book->WithResource(std::move(drawn_one));
        }
      }
      const Book fresh = whole();
      ASSERT_EQ(PrintRules(*book), PrintRules(*fresh));
      ExpectSound(*book);
      for (const auto& [name, ns] : model) {
        for (const Resource& resource : ns.resources) {
          for (const char* subject : {"ann", "s0", "c00", ""}) {
            ASSERT_EQ(Met(*book, name, resource.name, subject),
                      Met(*fresh, name, resource.name, subject));
          }
          for (const Override& one : resource.overrides) {
            ASSERT_EQ(Met(*book, name, resource.name, one.subject),
                      Met(*fresh, name, resource.name, one.subject));
          }
        }
      }
      former.emplace_back(book, PrintRules(*book));
    }
    for (const auto& [old, text] : former) EXPECT_EQ(PrintRules(*old), text);
  }
}

}  // namespace
}  // namespace weir::rulebook_edit_test

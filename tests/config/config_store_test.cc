// The configuration, the same on SQLite and on PostgreSQL.
#include "config/config_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "rules/print/print.h"
#include "tests/config/postgres_server.h"

namespace weir::config_store_test {
namespace {

constexpr Instant kNow = FromNanos(1'700'000'000'000'000'000);

ConfigPath Path(const std::string& text) {
  std::vector<std::string> words;
  size_t at = 0;
  while (at <= text.size()) {
    const size_t end = std::min(text.find('/', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  Result<ConfigPath> path = ConfigPath::Parse(words);
  EXPECT_TRUE(path) << text;
  return *path;
}

Json Tree(std::string_view text) { return Json::parse(text); }

const Json kShop = Tree(R"({"resources":{
  "search":{"limits":[{"name":"burst","limit":20,"per":"1s"},{"name":"daily","limit":9,"per":"1d"}]},
  "sandbox":{"copies":{"per_subject":5,"total":100}}}})");

class ConfigStoreTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "postgres") {
      postgres_ = std::make_unique<PostgresServer>();
      if (postgres_->url().empty()) GTEST_SKIP() << "PostgreSQL is not installed or did not start";
      url_ = postgres_->url();
    } else {
      std::string name = testing::TempDir() + "weir-config-XXXXXX";
      directory_ = mkdtemp(name.data());
      url_ = directory_ + "/weir.db";
    }
    store_ = Open();
  }
  void TearDown() override {
    store_.reset();
    if (!directory_.empty()) std::filesystem::remove_all(directory_);
  }

  std::unique_ptr<ConfigStore> Open(const ConfigStore::Options& options = {}) {
    Result<std::unique_ptr<Database>> database = OpenDatabase(url_);
    EXPECT_TRUE(database);
    auto store = std::make_unique<ConfigStore>(std::move(*database), options);
    const Result<uint64_t> version = store->Refresh();
    EXPECT_TRUE(version) << (version ? "" : version.error().message);
    return store;
  }
  static Writer By(std::string who = "ann", Guard guard = {}) {
    return {std::move(who), kNow, std::move(guard)};
  }
  Written Put(const std::string& path, const Json& body) {
    const Result<Written> written = store_->Put(Path(path), body, By());
    EXPECT_TRUE(written) << path << ": " << (written ? "" : written.error().message);
    return written ? *written : Written{};
  }
  Error PutError(const std::string& path, const Json& body) {
    const Result<Written> written = store_->Put(Path(path), body, By());
    EXPECT_FALSE(written) << path;
    return written ? Error{Code::kOk, ""} : written.error();
  }
  Json Get(const std::string& path) {
    const Result<ConfigValue> found = store_->Read(Path(path));
    return found ? found->value : Json();
  }

  std::unique_ptr<PostgresServer> postgres_;
  std::string directory_, url_;
  std::unique_ptr<ConfigStore> store_;
};

INSTANTIATE_TEST_SUITE_P(Databases, ConfigStoreTest, testing::Values("sqlite", "postgres"),
                         [](const auto& one) { return one.param; });

TEST_P(ConfigStoreTest, WhatIsWrittenIsReadAndIsInTheRules) {
  EXPECT_EQ(store_->version(), 0u);
  const Written created = Put("namespaces/shop", kShop);
  EXPECT_TRUE(created.created);
  EXPECT_EQ(created.version, 1u);
  EXPECT_EQ(created.value, kShop);
  EXPECT_NE(store_->rules()->FindResource("shop", "search"), nullptr);

  EXPECT_TRUE(Put("namespaces/shop/resources/login", {{"limits", Json::array()}}).created);
  const Json limit = {{"limit", 30}, {"per", "1s"}};
  const Written limited = Put("namespaces/shop/resources/search/limits/burst", limit);
  EXPECT_FALSE(limited.created);
  EXPECT_EQ(limited.value, Tree(R"({"name":"burst","limit":30,"per":"1s"})"));
  EXPECT_EQ(Get("namespaces/shop/resources/search/limits")[0]["limit"], 30) << "in its place";
  EXPECT_TRUE(Put("namespaces/shop/resources/search/overrides/user%2F1",
                  {{"limits", {{{"name", "burst"}, {"limit", 200}}}}})
                  .created);
  Put("namespaces/shop/resources/sandbox/groups/trial", {{"limit", 10}, {"subjects", {"ann"}}});
  EXPECT_EQ(Get("namespaces/shop/resources/sandbox/copies")["groups"].size(), 1u);
  Put("namespaces/shop/contracts/free", Tree(R"({"limits":[{"name":"m","limit":9,"per":"1h"}]})"));
  Put("namespaces/shop/contracts/free/limits/n", limit);
  Put("namespaces/shop/descriptors", Tree(R"([{"key":"path"}])"));
  const std::vector<std::string> names = {"burst", "daily"};
  EXPECT_EQ(*store_->List(Path("namespaces/shop/resources/search/limits")), names);
}

TEST_P(ConfigStoreTest, AnotherConnectionSeesTheSameAndSoDoesARestart) {
  Put("namespaces/shop", kShop);
  const auto other = Open();
  EXPECT_EQ(other->version(), 1u);
  EXPECT_EQ(other->Read(Path("namespaces/shop"))->value, kShop);
  ASSERT_TRUE(other->Delete(Path("namespaces/shop/resources/search"), By("bob")));
  EXPECT_EQ(*store_->Refresh(), 2u);
  EXPECT_TRUE(Get("namespaces/shop/resources/search").is_null());
  EXPECT_EQ(PrintRules(*store_->rules()), PrintRules(*other->rules()));
}

TEST_P(ConfigStoreTest, APatchMergesAndANullRemoves) {
  Put("namespaces/shop", kShop);
  const auto patched = store_->Patch(Path("namespaces/shop/resources/search/limits/daily"),
                                     Tree(R"({"limit":8,"burst":10})"), By());
  ASSERT_TRUE(patched) << patched.error().message;
  EXPECT_EQ(patched->value, Tree(R"({"name":"daily","limit":8,"per":"1d","burst":10})"));
  ASSERT_TRUE(
      store_->Patch(Path("namespaces/shop"), Tree(R"({"resources":{"search":null}})"), By()));
  EXPECT_EQ(*store_->List(Path("namespaces/shop/resources")), std::vector<std::string>{"sandbox"});
  EXPECT_EQ(
      store_->Patch(Path("namespaces/shop/resources/none"), Json::object(), By()).error().code,
      Code::kNotFound);
  EXPECT_EQ(store_->Patch(Path("namespaces/none/resources/x"), Json::object(), By()).error().code,
            Code::kUnknownNamespace);
}

TEST_P(ConfigStoreTest, TheAnswerTellsWhatNormalisationChanged) {
  Put("namespaces/shop.eu", kShop);
  const Written written = Put("namespaces/shop.eu/resources/video",
                              Tree(R"({"tiers":{"tiers":[{"limit":5,"window":"2s","active":"5s"},
                                                         {"limit":6,"window":"1s","active":"0s"},
                                                         {"limit":9,"window":"9s","active":"3s"}]}})"));
  ASSERT_EQ(written.normalised.size(), 3u);
  EXPECT_EQ(written.normalised[0].path, "namespaces.shop.eu.resources.video.tiers.tiers[0].active");
  EXPECT_EQ(written.normalised[0].to, "4s");
  EXPECT_EQ(written.value, Tree(R"({"tiers":{"tiers":[{"limit":5,"window":"2s","active":"4s"},
                                                      {"limit":9,"window":"3s","active":"3s"}]}})"));
  EXPECT_EQ(written.value, Get("namespaces/shop.eu/resources/video"));
  const Written lowered = Put("namespaces/shop.eu/resources/sandbox/copies",
                              Tree(R"({"per_subject":500,"total":100})"));
  EXPECT_EQ(lowered.value["per_subject"], 100);
}

TEST_P(ConfigStoreTest, MistakesNameThePathAndChangeNothing) {
  Put("namespaces/shop", kShop);
  const std::string limit = "namespaces/shop/resources/search/limits/burst";
  const auto expect = [&](const std::string& path, std::string_view body,
                          const std::string& field) {
    const Error error = PutError(path, Tree(body));
    EXPECT_EQ(error.code, Code::kBadRequest) << body;
    EXPECT_EQ(error.field, field) << error.message;
  };
  const std::string at = "namespaces.shop.resources.search.limits[0]";
  expect(limit, R"({"limit":"20","per":"1s"})", at + ".limit");
  expect(limit, R"({"limit":-1,"per":"1s"})", at + ".limit");
  expect(limit, R"({"limit":1.5,"per":"1s"})", at + ".limit");
  expect(limit, R"({"limit":99999999999999999999,"per":"1s"})", at + ".limit");
  expect(limit, R"({"limit":1,"per":"0s"})", at + ".per");
  expect(limit, R"({"limit":1,"per":{"a":[1]}})", at + ".per");
  expect(limit, R"({"limit":1,"per":"1s","colour":"red"})", at + ".colour");
  expect(limit, R"({"limit":1,"per":"1s","name":"other"})", "name");
  expect(limit, R"([])", "");
  expect("namespaces/shop/resources/search", R"({"limits":[],"copies":{"per_subject":1}})",
         "namespaces.shop.resources.search.copies");
  expect("namespaces/shop/resources", R"([1,2])", "namespaces.shop.resources");
  expect("namespaces", R"([])", "");
  expect("namespaces/" + std::string(300, 'x'), "{}", "namespaces." + std::string(300, 'x'));
  EXPECT_EQ(PutError("namespaces/none/resources/x", Json::object()).code, Code::kUnknownNamespace);
  EXPECT_EQ(PutError("namespaces/shop/resources/none/limits/x", Json::object()).code,
            Code::kUnknownResource);
  EXPECT_EQ(PutError("namespaces/shop/resources/search/groups/x", Json::object()).code,
            Code::kNotFound);
  EXPECT_EQ(store_->version(), 1u);
  EXPECT_EQ(Get("namespaces/shop"), kShop);
  EXPECT_EQ(*store_->Refresh(), 1u);
}

TEST_P(ConfigStoreTest, NamesAreNeverStatements) {
  for (const std::string name :
       {"'; DROP TABLE weir_namespaces; --", "$1", "\"", "a\\'b", "%s%n", "naïve ☃", "../../etc"}) {
    const ConfigPath path = *ConfigPath::Parse({"namespaces", name});
    const Result<Written> written = store_->Put(path, kShop, By(name));
    ASSERT_TRUE(written) << name << ": " << written.error().message;
    EXPECT_EQ(Open()->Read(path)->value, kShop) << name;
    EXPECT_EQ(store_->Audit({.namespace_name = name})->entries.at(0).who, name);
  }
  EXPECT_EQ(store_->List(Path("namespaces"))->size(), 7u);
  const ConfigPath zero = *ConfigPath::Parse({"namespaces", std::string("a\0b", 3)});
  EXPECT_EQ(store_->Put(zero, kShop, By()).error().code, Code::kBadRequest);
  EXPECT_EQ(store_->version(), 7u);
}

TEST_P(ConfigStoreTest, OfTwoWritersWithOneVersionOneGetsAConflict) {
  Put("namespaces/shop", kShop);
  const auto other = Open();
  const Guard guard{.versions = {{1}}};
  const ConfigPath path = Path("namespaces/shop/resources/search/limits/burst");
  const auto write = [&](ConfigStore& store, int limit) {
    return store.Patch(path, {{"limit", limit}}, By("x", guard));
  };
  ASSERT_TRUE(write(*store_, 21));
  const auto late = write(*other, 22);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, Code::kConflict);
  EXPECT_EQ(Get("namespaces/shop/resources/search/limits/burst")["limit"], 21);

  const auto put = [&](const char* name, const Guard& given) {
    return store_->Put(Path(std::string("namespaces/") + name), kShop, By("x", given));
  };
  EXPECT_EQ(put("shop", {.absent = true}).error().code, Code::kConflict);
  EXPECT_EQ(put("none", {.exists = true}).error().code, Code::kConflict);
  EXPECT_TRUE(put("new", {.absent = true}));
}

TEST_P(ConfigStoreTest, ThreadsThatWriteWithoutGuardLoseNoUpdate) {
  Put("namespaces/shop", kShop);
  constexpr int kThreads = 3, kWrites = 15;
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      const auto store = Open();
      for (int j = 0; j < kWrites; ++j) {
        const auto path = Path("namespaces/shop/resources/r" + std::to_string(i * kWrites + j));
        if (!store->Put(path, {{"limits", Json::array()}}, By())) ++failed;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
  EXPECT_EQ(*store_->Refresh(), 1u + kThreads * kWrites);
  EXPECT_EQ(Get("namespaces/shop/resources").size(), 2u + kThreads * kWrites);
}

TEST_P(ConfigStoreTest, ChangesSinceAVersionAreTold) {
  Put("namespaces/a", kShop);
  Put("namespaces/b", kShop);
  EXPECT_TRUE(store_->Since(0)->full);
  EXPECT_EQ(store_->Since(0)->trees.size(), 2u);
  ASSERT_TRUE(store_->Delete(Path("namespaces/a"), By()));
  const auto changes = store_->Since(1);
  EXPECT_FALSE(changes->full);
  ASSERT_EQ(changes->trees.size(), 2u);
  EXPECT_EQ(changes->trees[0], (std::pair<std::string, std::string>("b", PrintJson(kShop))));
  EXPECT_EQ(changes->trees[1], (std::pair<std::string, std::string>("a", "null")));
  EXPECT_TRUE(store_->Since(3)->trees.empty());
  EXPECT_TRUE(store_->Since(99)->full) << "a version that is not known";
}

TEST_P(ConfigStoreTest, TheHistoryTellsWhoDidWhatAndIsBounded) {
  store_ = Open({.history = {.entries = 3}});
  Put("namespaces/shop", kShop);
  ASSERT_TRUE(store_->Delete(Path("namespaces/shop/resources/sandbox"), By("bob")));
  const auto audit = store_->Audit({})->entries;
  ASSERT_EQ(audit.size(), 2u);
  EXPECT_EQ(audit[0].version, 2u);
  EXPECT_EQ(audit[0].at, kNow);
  EXPECT_EQ(audit[0].who, "bob");
  EXPECT_EQ(audit[0].path, "namespaces/shop/resources/sandbox");
  EXPECT_EQ(Tree(audit[0].before), kShop["resources"]["sandbox"]);
  EXPECT_EQ(audit[0].after, "");
  EXPECT_EQ(audit[1].before, "");
  EXPECT_EQ(store_->Audit({.before = 2})->entries.size(), 1u);
  EXPECT_EQ(store_->Audit({.namespace_name = "other"})->entries.size(), 0u);

  for (int i = 0; i < 5; ++i) {
    Put("namespaces/shop/resources/r" + std::to_string(i), {{"limits", Json::array()}});
  }
  EXPECT_EQ(store_->Audit({})->entries.size(), 3u);
  EXPECT_TRUE(store_->Since(1)->full);
  EXPECT_FALSE(store_->Since(4)->full);
  EXPECT_EQ(store_->Rollback(1, "", By()).error().code, Code::kNotFound);
  EXPECT_TRUE(store_->Rollback(4, "", By()));
}

TEST_P(ConfigStoreTest, ARollbackIsAChangeThatLeadsBackExactly) {
  Put("namespaces/shop", kShop);
  const std::string then = PrintJson(Get("namespaces"));
  ASSERT_TRUE(store_->Delete(Path("namespaces/shop/resources/search/limits/burst"), By()));
  Put("namespaces/other", kShop);
  ASSERT_TRUE(store_->Delete(Path("namespaces/shop"), By()));
  Put("namespaces/shop", Json::object());
  const auto back = store_->Rollback(1, "", By("eve"));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->version, 6u);
  EXPECT_EQ(PrintJson(Get("namespaces")), then) << "the order of limits too";
  ASSERT_TRUE(store_->Rollback(3, "", By())) << "forward again";
  EXPECT_EQ(store_->List(Path("namespaces"))->size(), 2u);
  ASSERT_TRUE(store_->Rollback(0, "", By()));
  EXPECT_EQ(Get("namespaces"), Json::object());
}

// A namespace with one resource of about so many bytes.
Json Large(size_t bytes, int salt) {
  Json overrides = Json::array();
  for (size_t i = 0; i < bytes / 60; ++i) {
    overrides.push_back({{"subject", "subject-" + std::to_string(i)},
                         {"limits", {{{"name", "m"}, {"limit", 1 + salt}}}}});
  }
  return {
      {"resources",
       {{"big",
         {{"limits", {{{"name", "m"}, {"limit", 9}, {"per", "1h"}}}}, {"overrides", overrides}}}}}};
}

TEST_P(ConfigStoreTest, WhoWritesMuchForgetsHisOwnPastOnly) {
  store_ = Open({.history = {.entries = 40, .bytes = 300'000}});
  Put("namespaces/small", kShop);
  Put("namespaces/small/resources/x", {{"limits", Json::array()}});
  for (int i = 0; i < 12; ++i) Put("namespaces/greedy", Large(50'000, i));
  for (int i = 0; i < 60; ++i) {
    Put("namespaces/greedy/resources/y" + std::to_string(i), {{"limits", Json::array()}});
  }
  EXPECT_EQ(store_->Audit({.namespace_name = "small"})->entries.size(), 2u);
  size_t bytes = 0, entries = 0;
  const auto audit = store_->Audit({.most = 1000, .most_bytes = SIZE_MAX});
  for (const AuditEntry& entry : audit->entries) {
    bytes += entry.before.size() + entry.after.size();
    ++entries;
  }
  EXPECT_LE(entries, 40u);
  EXPECT_LE(bytes, 300'000u);

  const Error forgotten = store_->Rollback(1, "", By()).error();
  EXPECT_EQ(forgotten.code, Code::kNotFound);
  EXPECT_NE(forgotten.message.find("is not remembered"), std::string::npos) << forgotten.message;
  EXPECT_EQ(store_->Rollback(1, "greedy", By()).error().code, Code::kNotFound);
  const auto back = store_->Rollback(1, "small", By());
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(Get("namespaces/small"), kShop);
  EXPECT_FALSE(Get("namespaces/greedy").is_null());
}

TEST_P(ConfigStoreTest, TheHistoryComesInPagesThatMissNothing) {
  Put("namespaces", {{"a", kShop}, {"b", kShop}, {"c", kShop}});
  for (int i = 0; i < 5; ++i) Put("namespaces/b", Large(20'000, i));
  const auto read = [&](size_t most, size_t most_bytes) {
    std::vector<std::pair<uint64_t, std::string>> seen;
    AuditQuery query{.most = most, .most_bytes = most_bytes};
    for (bool more = true; more;) {
      const Result<AuditPage> page = store_->Audit(query);
      EXPECT_TRUE(page);
      EXPECT_LE(page->entries.size(), most);
      for (const AuditEntry& entry : page->entries) {
        seen.emplace_back(entry.version, entry.namespace_name);
      }
      more = page->more;
      if (more && page->entries.empty()) break;
      if (more) {
        query.before = page->entries.back().version;
        query.after = page->entries.back().namespace_name;
      }
    }
    return seen;
  };
  const auto all = read(1000, SIZE_MAX);
  EXPECT_EQ(all.size(), 8u);
  EXPECT_EQ(read(1, SIZE_MAX), all);
  EXPECT_EQ(read(2, SIZE_MAX), all) << "pages that end within a version";
  EXPECT_EQ(read(1000, 1), all) << "one entry comes, however large";
  EXPECT_EQ(store_->Audit({.most_bytes = 50'000})->entries.size(), 1u);
}

// Changes of one resource do not read the others: what they come to is the same as if they did.
TEST_P(ConfigStoreTest, ChangesOfOneResourceComeToTheSameAsReadingAll) {
  Put("namespaces/shop", kShop);
  Put("namespaces/other", kShop);
  const std::string resources = "namespaces/shop/resources/";
  const auto same = [&](const std::string& what) {
    const Json file = {{"namespaces", Get("namespaces")}};
    const ParseResult whole = ParseRulesText(PrintJson(file), "whole");
    ASSERT_TRUE(whole.ok()) << ToString(whole.errors);
    EXPECT_EQ(PrintRules(*store_->rules()), PrintRules(*whole.rules)) << what;
    const auto other = Open();
    EXPECT_EQ(other->Read(Path("namespaces"))->value, Get("namespaces")) << what;
    EXPECT_EQ(PrintRules(*other->rules()), PrintRules(*whole.rules)) << what;
  };
  const Json limit = {{"limit", 30}, {"per", "1s"}};
  Put(resources + "search/limits/burst", limit), same("replaced");
  Put(resources + "a", {{"limits", {limit}}}), same("the first");
  Put(resources + "zz", {{"limits", {limit}}}), same("the last");
  Put(resources + "m~n", {{"limits", Json::array()}}), same("in the middle");
  ASSERT_TRUE(store_->Patch(Path(resources + "sandbox"), Tree(R"({"copies":{"total":7}})"), By()));
  same("patched");
  Put(resources + "search/overrides/ann", {{"limits", {{{"name", "burst"}, {"limit", 2}}}}});
  same("an override");
  ASSERT_TRUE(store_->Delete(Path(resources + "search/limits/daily"), By()));
  same("a limit less");
  ASSERT_TRUE(store_->Delete(Path(resources + "a"), By()));
  same("a resource less");
  EXPECT_EQ(PutError(resources + "search/limits/burst", {{"limit", 1}, {"per", "0s"}}).field,
            "namespaces.shop.resources.search.limits[0].per");
  same("refused");
  for (const uint64_t version : {9u, 5u, 3u, 2u}) {
    ASSERT_TRUE(store_->Rollback(version, "", By())) << version;
    same("back to " + std::to_string(version));
  }
  EXPECT_EQ(Get("namespaces/shop"), kShop);
}

TEST_P(ConfigStoreTest, AWriteSharesWhatItDoesNotTouchAndIsReadAlikeAlone) {
  Json shop = kShop;
  shop["coordination"] = "replicated";
  ConfigStore::Options cluster;
  cluster.parse.cluster = true;
  store_ = Open(cluster);
  Put("namespaces/shop", shop);
  Put("namespaces/other", kShop);
  const auto before = store_->rules();
  ASSERT_TRUE(store_->Patch(Path("namespaces/shop/resources/search/limits/burst"),
                            Tree(R"({"limit":8})"), By()));
  const auto after = store_->rules();
  EXPECT_NE(before->FindResource("shop", "search"), after->FindResource("shop", "search"));
  EXPECT_EQ(before->FindResource("shop", "sandbox"), after->FindResource("shop", "sandbox"));
  EXPECT_EQ(before->FindNamespace("shop"), after->FindNamespace("shop"));
  EXPECT_EQ(before->FindResource("other", "search"), after->FindResource("other", "search"));
  EXPECT_EQ(after->Match("shop", "search", "ann").limits[0].coordination.kind,
            Coordination::Kind::kReplicated)
      << "what its namespace says, though it was read alone";
  EXPECT_EQ(PrintRules(*after), PrintRules(*Open(cluster)->rules()));
  // What others write is taken up in the same way.
  const auto other = Open(cluster);
  const auto of_other = other->rules();
  ASSERT_TRUE(store_->Delete(Path("namespaces/shop/resources/search"), By()));
  ASSERT_TRUE(other->Refresh());
  EXPECT_EQ(of_other->FindResource("other", "search"),
            other->rules()->FindResource("other", "search"));
  EXPECT_EQ(PrintRules(*other->rules()), PrintRules(*store_->rules()));
  ASSERT_TRUE(store_->Delete(Path("namespaces/other"), By()));
  ASSERT_TRUE(other->Refresh());
  EXPECT_EQ(PrintRules(*other->rules()), PrintRules(*store_->rules()));
}

TEST_P(ConfigStoreTest, AllNamespacesAreReplacedAtOnceOrNot) {
  Put("namespaces/shop", kShop);
  Put("namespaces/other", kShop);
  PutError("namespaces", {{"shop", kShop}, {"bad", {{"resources", 7}}}});
  EXPECT_EQ(store_->version(), 2u);
  const Written written = Put("namespaces", {{"shop", kShop}, {"third", kShop}});
  EXPECT_EQ(written.version, 3u);
  EXPECT_EQ(*store_->List(Path("namespaces")), (std::vector<std::string>{"shop", "third"}));
  EXPECT_EQ(Put("namespaces", {{"shop", kShop}, {"third", kShop}}).version, 3u) << "nothing new";
}

TEST(PostgresAway, IsAnErrorInTimeAndIsOverWhenItIsBack) {
  PostgresServer server;
  if (server.url().empty()) GTEST_SKIP() << "PostgreSQL is not installed or did not start";
  ConfigStore store(std::move(*OpenDatabase(server.url())), {});
  const Writer writer{"ann", kNow};
  ASSERT_TRUE(store.Refresh());
  ASSERT_TRUE(store.Put(Path("namespaces/shop"), kShop, writer));
  server.Kill();
  EXPECT_EQ(store.Put(Path("namespaces/b"), kShop, writer).error().code, Code::kUnavailable);
  EXPECT_EQ(store.Read(Path("namespaces/shop"))->value, kShop) << "what was known is";
  server.Start();
  EXPECT_TRUE(store.Put(Path("namespaces/b"), kShop, writer));
  server.Pause();
  EXPECT_EQ(store.Put(Path("namespaces/c"), kShop, writer).error().code, Code::kUnavailable);
  server.Resume();
  const auto late = store.Put(Path("namespaces/d"), kShop, writer);
  EXPECT_TRUE(late) << late.error().message;
}

}  // namespace
}  // namespace weir::config_store_test

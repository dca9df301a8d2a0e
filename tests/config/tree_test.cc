// Rules as trees: in and out of text, the path of a line, what differs.
#include "config/tree.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "config/namespace_tree.h"
#include "rules/print/print.h"
#include "rules/read/parse.h"

namespace weir::tree_test {
namespace {

TEST(Tree, ExamplesMeanTheSameAsJsonAndAsYaml) {
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WEIR_SOURCE_DIR "/examples")) {
    const std::string path = entry.path();
    const ParseResult rules = path.ends_with(".yaml") ? LoadRulesPath(path) : ParseResult{};
    if (!rules.ok()) continue;
    ++seen;
    const Result<Json> tree = LoadNamespaces(path);
    ASSERT_TRUE(tree) << tree.error().message;
    const Json file = {{"namespaces", *tree}};
    const Result<Json> again = ReadRulesTree(PrintYaml(file), "again");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, file) << path;
    const ParseResult from_json = ParseRulesText(PrintJson(file), "json");
    ASSERT_TRUE(from_json.ok()) << ToString(from_json.errors);
    EXPECT_EQ(from_json.rules->all().size(), rules.rules->all().size()) << path;
  }
  EXPECT_GT(seen, 0);
}

TEST(Tree, NamesThatLookLikeSomethingElseStayNames) {
  const char* yaml = "{a: [007, 1.50, 12, \"12\", on, \"on\", 1e3, -0, ~, \"\", 0x10, yes]}";
  const Result<Json> tree = ReadRulesTree(yaml, "f");
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(PrintJson(*tree),
            R"({"a":["007","1.50",12,"12","on","on","1e3","-0",null,"","0x10","yes"]})");
  EXPECT_EQ(*ReadRulesTree(PrintYaml(*tree), "f"), *tree);
}

TEST(Tree, OnlyJsonIsTakenFromStrangers) {
  EXPECT_TRUE(ReadJsonTree(R"( {"a": [1, "x", null, true]} )"));
  for (const char* text : {"", " ", "a: 1", "7", "{a: 1}", "{\"a\":1", "{\"a\":1}}", "[1,]",
                           "{\"a\":1,\"a\":2}", "{\"a\":&x 1}", "[\x01]", "\xff", "{\"a\":01}"}) {
    const Result<Json> tree = ReadJsonTree(text);
    ASSERT_FALSE(tree) << text;
    EXPECT_EQ(tree.error().code, Code::kBadRequest) << text;
    EXPECT_FALSE(tree.error().message.empty()) << text;
  }
  EXPECT_FALSE(ReadJsonTree(std::string(100'000, '[')));
}

TEST(Tree, ALineTellsItsPath) {
  const Json tree = Json::parse(R"({"a":{},"b":[1,{"c":[],"d":{"e.f":2}}],"g":3})");
  std::vector<std::string> paths;
  for (uint32_t line = 1; line <= 11; ++line) paths.push_back(PathOfLine(tree, line));
  const std::vector<std::string> expected = {
      "", "a", "b", "b[0]", "b[1]", "b[1].c", "b[1].d", "b[1].d.e.f", "b[1].d", "b[1]", "b"};
  EXPECT_EQ(paths, expected) << PrintJsonLines(tree);
}

TEST(Tree, DifferencesAreALineEach) {
  const Json from = Json::parse(R"({"a":1,"b":{"c":2,"d":[1]},"e":5})");
  const Json to = Json::parse(R"({"a":1,"b":{"d":[2],"x":0},"e":5})");
  const std::vector<std::string> expected = {"- b.c: 2", "~ b.d: [1] -> [2]", "+ b.x: 0"};
  EXPECT_EQ(Differences(from, to), expected);
  EXPECT_TRUE(Differences(to, to).empty());
}

TEST(NamespaceTree, BoundsAreOnTheWholeThoughOneResourceIsWritten) {
  const auto text = [](size_t mebibytes) { return Json(std::string(mebibytes << 20, 'x')); };
  NamespaceTree tree("n", 1, {{"resources", {{"a", text(10)}, {"b", 1}}}});
  EXPECT_TRUE(tree.IsWithinBounds({"c", text(5)}));
  EXPECT_FALSE(tree.IsWithinBounds({"c", text(6)}));
  EXPECT_TRUE(tree.IsWithinBounds({"a", text(15)})) << "in place of the other";
  tree.Apply({"c", text(5)}, 2);
  EXPECT_FALSE(tree.IsWithinBounds({"d", text(1)}));
  tree.Apply({"a", Json()}, 3);
  EXPECT_TRUE(tree.IsWithinBounds({"d", text(10)}));
  EXPECT_FALSE(tree.IsWithinBounds({"d", Json(Json::array_t(4'000'000))})) << "too many nodes";
  EXPECT_TRUE(tree.IsWithinBounds({"d", Json(Json::array_t(1'000'000))}));
}

TEST(NamespaceTree, TheTextOfAnEditIsThatOfTheWhole) {
  Json json = {{"contracts", Json::object()}, {"resources", {{"b", 1}, {"d\"", {{"x", 2}}}}}};
  const NamespaceTree tree("n", 1, json);
  EXPECT_EQ(tree.Text(), PrintJson(json));
  for (const char* name : {"a", "b", "c", "d\"", "e"}) {
    for (const Json& value : {Json(7), Json()}) {
      Json whole = json;
      if (value.is_null()) {
        whole["resources"].erase(name);
      } else {
        whole["resources"][name] = value;
      }
      EXPECT_EQ(tree.TextWith({name, value}), PrintJson(whole));
      NamespaceTree edited("n", 1, json);
      edited.Apply({name, value}, 2);
      EXPECT_EQ(edited.Text(), PrintJson(whole));
      EXPECT_EQ(edited.json(), whole);
    }
  }
}

}  // namespace
}  // namespace weir::tree_test

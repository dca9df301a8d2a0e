// docs/rules.md has every key that the readers know, and no other; examples/shop.yaml uses all of them.
//
// The readers are asked themselves: a key that they do not know is answered with those that they do.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "rules/text/document.h"
#include "tests/rules/rules_text.h"

namespace weir::reference_test {
namespace {

const std::string kRoot = WEIR_SOURCE_DIR;
using Keys = std::set<std::string>;

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str(), "") << path;
  return text.str();
}

Keys Ticked(const std::string& text) {
  static const std::regex word("`([a-z_]+)`");
  Keys keys;
  for (std::sregex_iterator it(text.begin(), text.end(), word), none; it != none; ++it) {
    keys.insert((*it)[1]);
  }
  return keys;
}

// A map of rules: the heading of the page, and where the reader meets it. § is an unknown key.
struct Place {
  std::string heading, rules;
};

std::vector<Place> Places() {
  const auto resource = [](const std::string& fields) {
    return "namespaces: {n: {resources: {r: {" + fields + "}}}}";
  };
  const std::string limits = "limits: [{name: a, limit: 1, per: 1s}]";
  const std::string tiers = "tiers: {tiers: []}", copies = "copies: {per_subject: 1}";
  const auto descriptor = [](const std::string& fields) {
    return "namespaces: {n: {descriptors: [{key: a, " + fields + "}]}}";
  };
  return {
      {"File", "{§: 1, namespaces: {}}"},
      {"Namespace", "namespaces: {n: {§: 1}}"},
      {"Resource", resource("§: 1")},
      {"Limit", resource("limits: [{limit: 1, per: 1s, §: 1}]")},
      {"Coordination", resource("limits: [{limit: 1, per: 1s, coordination: {§: 1}}]")},
      {"Tiers", resource("tiers: {tiers: [], §: 1}")},
      {"Tier", resource("tiers: {tiers: [{limit: 1, window: 1s, active: 1s, §: 1}]}")},
      {"Copies", resource("copies: {per_subject: 1, §: 1}")},
      {"Group",
       resource("copies: {per_subject: 1, groups: [{name: g, limit: 1, others: true, §: 1}]}")},
      {"Override", resource(limits + ", overrides: [{subject: s, §: 1}]")},
      {"LimitOverride",
       resource(limits + ", overrides: [{subject: s, limits: [{name: a, limit: 2, §: 1}]}]")},
      {"TiersOverride", resource(tiers + ", overrides: [{subject: s, tiers: {§: 1}}]")},
      {"CopiesOverride",
       resource(copies + ", overrides: [{subject: s, copies: {per_subject: 1, §: 1}}]")},
      {"Contract", "namespaces: {n: {contracts: {c: {§: 1}}}}"},
      {"Descriptor", descriptor("§: 1")},
      {"RateLimit", descriptor("rate_limit: {unit: day, requests_per_unit: 1, §: 1}")},
      {"Replaces",
       descriptor("rate_limit: {unit: day, requests_per_unit: 1, replaces: [{name: b, §: 1}]}")},
      {"DescriptorLimit", descriptor("weir: {limit: 1, per: 1s, §: 1}")},
      {"A file of envoyproxy/ratelimit", "{domain: d, §: 1}"},
  };
}

struct Map {
  std::string what;  // as messages call it
  Keys keys;
};

Map AskReaders(Place place) {
  constexpr std::string_view kUnknown = "qqqqqqqqqq";
  place.rules.replace(place.rules.find("§"), std::string("§").size(), kUnknown);
  const bool ratelimit = place.heading.find("ratelimit") != std::string::npos;
  const ParseResult result = ratelimit ? ParseRatelimitText(place.rules, "r", {.cluster = true})
                                       : ParseRulesText(place.rules, "r", {.cluster = true});
  const std::string begin = "`" + std::string(kUnknown) + "` is no key of ";
  constexpr std::string_view kTakes = "; it takes ";
  for (const Diagnostic& error : result.errors) {
    const size_t takes = error.message.find(kTakes);
    if (!error.message.starts_with(begin) || takes == std::string::npos) continue;
    return {error.message.substr(begin.size(), takes - begin.size()),
            Ticked(error.message.substr(takes))};
  }
  ADD_FAILURE() << place.heading << ": " << ToString(result.errors);
  return {};
}

// The first column of the tables of a heading that begin with `key`.
Keys OnThePage(const std::string& page, const std::string& heading) {
  std::istringstream lines(page);
  std::string line;
  Keys keys;
  bool here = false, table = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("#")) here = line.substr(line.find(' ') + 1) == heading;
    if (!line.starts_with("|")) table = false;
    if (line.starts_with("| key |")) table = true;
    if (!here || !table || !line.starts_with("| `")) continue;
    for (const std::string& key : Ticked(line.substr(0, line.find(" | ")))) {
      EXPECT_TRUE(keys.insert(key).second) << heading << " has `" << key << "` twice";
    }
  }
  return keys;
}

TEST(RulesReference, HasEveryKeyAndNoOther) {
  const std::string page = Read(kRoot + "/docs/rules.md");
  for (const Place& place : Places()) {
    EXPECT_EQ(OnThePage(page, place.heading), AskReaders(place).keys) << place.heading;
  }
}

// A map that somebody adds to the readers has to be added to the page, and above.
TEST(RulesReference, HasEveryMap) {
  Keys known;
  for (const Place& place : Places()) known.insert(AskReaders(place).what);
  static const std::regex made(R"re((?:Fields \w+\(|ReadLimitSpec\()[^;"]*"([^"]+)")re");
  size_t found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot + "/src/rules")) {
    if (!entry.is_regular_file()) continue;
    const std::string text = Read(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), made), none; it != none; ++it) {
      ++found;
      EXPECT_TRUE(known.contains((*it)[1])) << entry.path() << ": " << (*it)[1];
    }
  }
  EXPECT_GE(found, known.size());
}

TEST(RulesReference, ItsExamplesAreRight) {
  std::istringstream lines(Read(kRoot + "/docs/rules.md"));
  std::string line, block;
  size_t blocks = 0;
  bool inside = false;
  while (std::getline(lines, line)) {
    if (line.starts_with("```")) {
      if (inside) {
        const ParseResult result = ParseRulesText(block, "block", {.cluster = true});
        EXPECT_TRUE(result.ok()) << ToString(result.errors) << block;
        EXPECT_TRUE(result.changes.empty()) << block;
        ++blocks;
      }
      inside = line == "```yaml";
      block.clear();
    } else if (inside) {
      block += line + "\n";
    }
  }
  EXPECT_GT(blocks, 8u);
}

// ---- The shop ----

// Which keys each kind of map has, anywhere in a file.
class Uses {
 public:
  std::map<std::string, Keys> keys;

  void See(const std::string& heading, const Node& node) {
    for (const Child& child : node.children) {
      const std::string key(child.key->text);
      keys[heading].insert(key);
      const std::string below = Below(heading, key);
      if (below.empty()) continue;
      const bool named = key == "namespaces" || key == "resources" || key == "contracts";
      if (child.node->IsList() || named) {
        for (const Child& one : child.node->children) See(below, *one.node);
      } else if (child.node->IsMap()) {
        See(below, *child.node);
      }
    }
  }

 private:
  static std::string Below(const std::string& heading, const std::string& key) {
    static const std::map<std::string, std::string> below = {
        {"File.namespaces", "Namespace"},
        {"Namespace.resources", "Resource"},
        {"Namespace.contracts", "Contract"},
        {"Namespace.descriptors", "Descriptor"},
        {"Resource.limits", "Limit"},
        {"Resource.tiers", "Tiers"},
        {"Resource.copies", "Copies"},
        {"Resource.overrides", "Override"},
        {"Tiers.tiers", "Tier"},
        {"Copies.groups", "Group"},
        {"Override.limits", "LimitOverride"},
        {"Override.tiers", "TiersOverride"},
        {"Override.copies", "CopiesOverride"},
        {"Contract.limits", "Limit"},
        {"Descriptor.descriptors", "Descriptor"},
        {"Descriptor.rate_limit", "RateLimit"},
        {"Descriptor.weir", "DescriptorLimit"},
        {"RateLimit.replaces", "Replaces"}};
    const auto found = below.find(heading + "." + key);
    return found == below.end() ? "" : found->second;
  }
};

TEST(RulesReference, TheShopHasEveryKey) {
  const std::string path = kRoot + "/examples/shop.yaml";
  Source source(path, Read(path), {});
  const auto document = Document::Read(source);
  ASSERT_NE(document, nullptr);
  Uses uses;
  uses.See("File", document->root());
  for (const Place& place : Places()) {
    // A map below `coordination` needs a cluster; the other grammar has its own examples.
    if (place.heading == "Coordination" || place.heading.starts_with("A file")) continue;
    EXPECT_EQ(uses.keys[place.heading], AskReaders(place).keys) << place.heading;
  }
}

}  // namespace
}  // namespace weir::reference_test

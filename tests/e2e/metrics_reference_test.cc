// docs/metrics.md is what servers tell: no metric is missing, none is invented.
//
// WEIR_REWRITE=1 writes the table as it is today; read the difference before you keep it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "lab/live/free_port.h"
#include "tests/e2e/cluster_nodes.h"

namespace weir::e2e::metrics_reference_test {
namespace {

const std::string kRoot = WEIR_SOURCE_DIR;
const std::string kPage = kRoot + "/docs/metrics.md";
constexpr std::string_view kHead =
    "| metric | type | labels | what it is |\n| --- | --- | --- | --- |\n";

constexpr char kRules[] = R"(
namespaces:
  shop:
    resources:
      search: {limits: [{name: burst, limit: 3, per: 1h, coordination: replicated, persist: true}]}
    descriptors: [{key: path, rate_limit: {unit: hour, requests_per_unit: 3}}]
)";

std::string Read(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Family {
  size_t place;  // in the answer
  std::string help, type;
  std::set<std::string> labels;
};

// As Prometheus reads them.
std::map<std::string, Family> Families(const std::string& text) {
  std::map<std::string, Family> families;
  std::istringstream lines(text);
  std::string line, name;
  static const std::regex label("([a-z_]+)=\"");
  while (std::getline(lines, line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.starts_with("# HELP ") || line.starts_with("# TYPE ")) {
      const size_t end = line.find(' ', 7);
      name = line.substr(7, end - 7);
      Family& family =
          families.try_emplace(name, Family{families.size(), "", "", {}}).first->second;
      (line[2] == 'H' ? family.help : family.type) = line.substr(end + 1);
    } else if (line.starts_with("weir_") && line.find('{') != std::string::npos) {
      for (std::sregex_iterator it(line.begin(), line.end(), label), none; it != none; ++it) {
        if ((*it)[1] != "le") families.at(name).labels.insert((*it)[1]);
      }
    }
  }
  return families;
}

// In the order of the answer, where what belongs together stands together.
std::string Table(const std::map<std::string, Family>& families) {
  std::vector<std::string> rows(families.size());
  for (const auto& [name, family] : families) {
    std::string labels;
    for (const std::string& label : family.labels) {
      labels += (labels.empty() ? "`" : ", `") + label + "`";
    }
    rows[family.place] =
        "| `" + name + "` | " + family.type + " | " + labels + " | " + family.help + " |\n";
  }
  std::string table;
  for (const std::string& row : rows) table += row;
  return table;
}

class E2eMetricsReference : public ClusterNodes {};

TEST_F(E2eMetricsReference, HasEveryMetricOfAServer) {
  rules_ = files_.Write("all.yaml", kRules);
  const int a = lab::FreePort(), b = lab::FreePort();
  const std::string peers =
      "a=127.0.0.1:" + std::to_string(a) + ",b=127.0.0.1:" + std::to_string(b);
  Launch("a", "127.0.0.1:" + std::to_string(a), peers, key_);
  Launch("b", "127.0.0.1:" + std::to_string(b), peers, key_);
  ASSERT_TRUE(Eventually([&] { return AreWhole({"a", "b"}, 1); })) << nodes_["a"]->log();
  EXPECT_TRUE(Ask("a"));
  const std::map<std::string, Family> families =
      Families(HttpGet(nodes_["a"]->port("http"), "/metrics"));
  EXPECT_GT(families.size(), 40u);
  const std::string table = Table(families), page = Read(kPage);
  const size_t begin = page.find(kHead), end = page.find("\n\n", begin);
  ASSERT_NE(begin, std::string::npos);
  const size_t rows = begin + kHead.size();
  if (std::getenv("WEIR_REWRITE") != nullptr) {
    std::ofstream(kPage) << page.substr(0, rows) << table << page.substr(end + 1);
    return;
  }
  // Times of peers are told once they were measured: what the page has is looked up below.
  std::istringstream lines(table);
  for (std::string row; std::getline(lines, row);) {
    EXPECT_NE(page.find("\n" + row + "\n"), std::string::npos)
        << row
        << "\nWEIR_REWRITE=1 build/tests/e2e_test --gtest_filter='E2eMetricsReference.*' rewrites "
           "it";
  }
}

// Some may only be told in circumstances that the test above does not bring about.
TEST(MetricsReference, HasEveryNameInTheCodeAndNoOther) {
  static const std::regex name("\"(weir_[a-z0-9_]+)\"");
  const std::string page = Read(kPage);
  std::set<std::string> told;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRoot + "/src/server")) {
    if (entry.path().extension() != ".cc" ||
        entry.path().filename().string().find("metrics") == std::string::npos) {
      continue;
    }
    const std::string text = Read(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), name), none; it != none; ++it) {
      told.insert((*it)[1]);
      EXPECT_NE(page.find("`" + (*it)[1].str() + "`"), std::string::npos)
          << entry.path() << ": " << (*it)[1];
    }
  }
  static const std::regex row("\n\\| `(weir_[a-z0-9_]+)` \\| (?:gauge|counter|histogram)");
  for (std::sregex_iterator it(page.begin(), page.end(), row), none; it != none; ++it) {
    EXPECT_TRUE(told.contains((*it)[1])) << (*it)[1] << " is told nowhere";
  }
}

}  // namespace
}  // namespace weir::e2e::metrics_reference_test

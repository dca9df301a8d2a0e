#include "cli/top_screen.h"

#include <gtest/gtest.h>

namespace weir::top_screen_test {
namespace {

TopView View(size_t resources, size_t subjects) {
  TopView view;
  view.server = "127.0.0.1:8080";
  view.time = "14:05:09";
  view.admitted_rate = 1200;
  view.refused_rate = 5;
  for (size_t i = 0; i < resources; ++i) {
    TopResource one;
    one.name = "shop/resource-" + std::to_string(i);
    one.cost = 904'321;
    for (uint64_t second = 0; second < 60; ++second) {
      one.admitted.push_back(second);
      one.refused.push_back(i == 0 ? 5 : 0);
    }
    for (size_t n = 0; n < subjects; ++n) {
      one.busiest.push_back({"subject-" + std::to_string(n), 1000 - n});
      if (n % 2 == 0) one.most_refused.push_back({"refused-" + std::to_string(n), 100 - n});
    }
    view.resources.push_back(one);
  }
  return view;
}

bool Has(const std::vector<std::string>& lines, std::string_view part) {
  for (const std::string& line : lines) {
    if (line.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(TopScreen, FitsEverySize) {
  for (const size_t columns : {1u, 5u, 20u, 40u, 60u, 76u, 80u, 120u, 200u, 400u}) {
    for (const size_t rows : {1u, 2u, 3u, 10u, 24u, 50u}) {
      for (const size_t resources : {0u, 1u, 3u, 40u}) {
        TopView view = View(resources, 12);
        if (resources == 3) view.trouble = "no answer from 127.0.0.1:8080: it took too long";
        const std::vector<std::string> lines = DrawTop(view, {columns, rows}, false);
        EXPECT_LE(lines.size(), rows);
        for (const std::string& line : lines) EXPECT_LE(Columns(line), columns) << line;
      }
    }
  }
}

TEST(TopScreen, ShowsSubjectsWhereThereIsRoom) {
  const std::vector<std::string> lines = DrawTop(View(1, 12), {80, 24}, false);
  EXPECT_TRUE(Has(lines, "weir top  127.0.0.1:8080  14:05:09  admitted 1200/s  refused 5/s"));
  EXPECT_TRUE(Has(lines, "q quits"));
  EXPECT_TRUE(Has(lines, "shop/resource-0"));
  EXPECT_TRUE(Has(lines, "subject-9"));
  EXPECT_FALSE(Has(lines, "subject-10"));
  EXPECT_TRUE(Has(lines, "refused-8"));
}

TEST(TopScreen, DropsSubjectsBeforeResources) {
  const std::vector<std::string> lines = DrawTop(View(20, 12), {80, 24}, false);
  EXPECT_TRUE(Has(lines, "shop/resource-19"));
  EXPECT_FALSE(Has(lines, "subject-0"));
  const std::vector<std::string> fewer = DrawTop(View(40, 12), {80, 24}, false);
  EXPECT_EQ(fewer.size(), 24u);
  EXPECT_TRUE(Has(fewer, "… and 19 more"));
  EXPECT_TRUE(Has(fewer, "shop/resource-20"));
  EXPECT_FALSE(Has(fewer, "shop/resource-21"));
}

TEST(TopScreen, ShowsAllWhereThereIsNoEnd) {
  const std::vector<std::string> lines = DrawTop(View(40, 12), {100, 0}, false);
  EXPECT_TRUE(Has(lines, "shop/resource-39"));
  EXPECT_FALSE(Has(lines, "q quits"));
}

TEST(TopScreen, ShowsWhomShadowLimitsWouldRefuse) {
  TopView view = View(1, 2);
  view.resources[0].would_refuse = {{"dan", 17}};
  for (const size_t columns : {40u, 80u, 160u}) {
    const std::vector<std::string> lines = DrawTop(view, {columns, 30}, false);
    EXPECT_TRUE(Has(lines, "shadow would refuse")) << columns;
    EXPECT_TRUE(Has(lines, "dan")) << columns;
  }
  EXPECT_FALSE(Has(DrawTop(View(1, 2), {80, 30}, false), "shadow"));
}

TEST(TopScreen, MakesNamesPlain) {
  TopView view = View(1, 1);
  view.server = "\x1b]0;owned\x07";
  view.resources[0].name = "shop/\x1b[2J";
  view.resources[0].busiest[0].name = "ann\n\xe2\x80\xae";
  view.trouble = "no\x9b answer";
  for (const std::string& line : DrawTop(view, {120, 30}, false)) {
    EXPECT_TRUE(IsPlainText(line)) << line;
  }
  EXPECT_TRUE(Has(DrawTop(view, {120, 30}, false), "ann\\n\\u202e"));
}

}  // namespace
}  // namespace weir::top_screen_test

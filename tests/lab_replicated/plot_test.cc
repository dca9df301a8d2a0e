// Plots and the page: well-formed, escaped, with numbers that mean something.
#include "lab/replicated/report/plot.h"

#include <gtest/gtest.h>

#include <cctype>

#include "lab/replicated/report/figures.h"
#include "lab/replicated/report/report.h"

namespace weir::lab::plot_test {
namespace {

// The name of the first tag that is not closed in its turn; empty if all are.
std::string BadTag(const std::string& xml) {
  std::vector<std::string> open;
  for (size_t at = xml.find('<'); at != std::string::npos; at = xml.find('<', at + 1)) {
    const size_t end = xml.find('>', at);
    if (end == std::string::npos) return "cut off";
    const std::string tag = xml.substr(at + 1, end - at - 1);
    if (tag[0] == '!' || tag.back() == '/' || tag.starts_with("meta") || tag == "br") continue;
    std::string name = tag.substr(tag[0] == '/');
    name = name.substr(0, name.find_first_of(" \n"));
    if (tag[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return tag;
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back();
}

ExperimentResult Some() {
  ExperimentResult result{.name = "spotify-d", .what = "a < b & c", .capacity = 5};
  result.step = std::chrono::seconds(1);
  for (const char* name : {"counter", "queue+linf", "debt"}) {
    result.variants.push_back({name,
                               {{"precision", 99, "percent"},
                                {"bytes_sent", 12345, "bytes"},
                                {"converge_s", 1, "seconds"}},
                               {{5, 1, 1, 100, 2000}, {5, 2, 2, 300, 3000}}});
  }
  return result;
}

TEST(Plot, TicksAreRoundAndCover) {
  EXPECT_EQ(TicksBetween(0, 100, 5), (std::vector<double>{0, 20, 40, 60, 80, 100}));
  EXPECT_EQ(TicksBetween(90, 99, 5), (std::vector<double>{90, 92, 94, 96, 98, 100}));
  EXPECT_GE(TicksBetween(0, 0.003, 5).back(), 0.003 - 1e-12);
}

TEST(Plot, SvgIsWellFormedWhateverTheNames) {
  const std::string lines =
      ToSvg(LineChart{"<title> & \"more\"",
                      "x",
                      "y",
                      {{"a<b", "#123456", true, {{0, 0}, {1, 5}}}, {"none", "", false, {}}}});
  EXPECT_EQ(BadTag(lines), "");
  EXPECT_EQ(lines.find("<title> &"), std::string::npos);
  EXPECT_NE(lines.find("a&lt;b"), std::string::npos);
  const std::string bars = ToSvg(BarChart{"t", "y", 0, "m", {{"a+b", "#123456", 0, "0", 3.0}}});
  EXPECT_EQ(BadTag(bars), "");
  EXPECT_EQ(BadTag(ToSvg(LineChart{})), "");
  EXPECT_EQ(BadTag(ToSvg(BarChart{})), "");
}

TEST(Plot, NothingIsDrawnOutsideAndNothingIsNotANumber) {
  for (const Figure& figure : FiguresOf(Some())) {
    EXPECT_EQ(BadTag(figure.svg), "") << figure.name;
    EXPECT_EQ(figure.svg.find("nan"), std::string::npos) << figure.name;
    EXPECT_EQ(figure.svg.find("\"inf"), std::string::npos) << figure.name;
    EXPECT_EQ(figure.svg.find("\"-"), std::string::npos) << figure.name;
  }
}

TEST(Report, IsOnePageThatNeedsNothingElse) {
  const std::string page = ReportPage({Some()});
  EXPECT_EQ(BadTag(page), "");
  EXPECT_NE(page.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_EQ(page.find("<link"), std::string::npos);
}

}  // namespace
}  // namespace weir::lab::plot_test

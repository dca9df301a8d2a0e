// Charts as SVG: lines over time and bars, with axes, ticks and a legend.
//
// An SVG stands alone or in a page, and follows the reader's choice of light or dark. What it is
// given is escaped; numbers are written so that the same values give the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::lab {

struct Line {
  std::string name;
  std::string colour;  // "#rrggbb"; empty: the text's
  bool dashed = false;
  std::vector<std::pair<double, double>> points;  // x ascending
};
struct LineChart {
  std::string title, x_label, y_label;
  std::vector<Line> lines;
};

struct Bar {
  std::string name;
  std::string colour;
  double value = 0;
  std::string label;           // the value, in words
  std::optional<double> mark;  // a line across: the paper's figure
};
struct BarChart {
  std::string title, y_label;
  double low = 0;          // where the axis begins
  std::string mark_label;  // what the marks are, if there are any
  std::vector<Bar> bars;
};

std::string ToSvg(const LineChart& chart);
std::string ToSvg(const BarChart& chart);

// Round numbers from `low` to `high` or just beyond: 0, 20, 40, ….
std::vector<double> TicksBetween(double low, double high, int about);
// For XML and HTML.
std::string Escaped(std::string_view text);

}  // namespace weir::lab

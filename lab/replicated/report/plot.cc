#include "lab/replicated/report/plot.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace weir::lab {
namespace {

constexpr double kWidth = 720, kLeft = 72, kRight = 16, kTop = 56, kPlot = 260;
constexpr double kBottom = kTop + kPlot, kInner = kWidth - kLeft - kRight;

constexpr char kStyle[] =
    "<style>.weir-plot{font:12px system-ui,sans-serif}.weir-plot .ground{fill:#fff}"
    ".weir-plot text{fill:#333}.weir-plot .grid{stroke:#ddd}.weir-plot .axis{stroke:#777}"
    ".weir-plot .ink{stroke:#333}.weir-plot .title{font-size:14px;font-weight:600}"
    "@media(prefers-color-scheme:dark){.weir-plot .ground{fill:#1d1f21}.weir-plot text{fill:#ddd}"
    ".weir-plot .grid{stroke:#3a3d40}.weir-plot .axis{stroke:#999}.weir-plot .ink{stroke:#eee}}"
    "</style>";

struct Axis {
  double low = 0, high = 1;
  std::vector<double> ticks;
  Axis(double from, double to, int about) {
    if (!(to > from)) to = from + 1;
    ticks = TicksBetween(from, to, about);
    low = std::min(from, ticks.front());
    high = std::max(to, ticks.back());
  }
  double Share(double value) const { return std::clamp((value - low) / (high - low), 0.0, 1.0); }
};

double Y(const Axis& axis, double value) { return kBottom - kPlot * axis.Share(value); }

std::string Short(double value) {
  const double size = std::abs(value);
  if (size >= 1e9) return fmt::format("{:.4g} G", value / 1e9);
  if (size >= 1e6) return fmt::format("{:.4g} M", value / 1e6);
  if (size >= 1e4) return fmt::format("{:.4g} k", value / 1e3);
  return fmt::format("{:.4g}", value);
}

std::string Text(double x, double y, const char* anchor, std::string_view text,
                 std::string_view more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                     anchor, more, Escaped(text));
}

std::string Stroke(double x1, double y1, double x2, double y2, std::string_view kind) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2,
      y2, kind);
}

std::string Begin(const std::string& title, const std::string& y_label, double height) {
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"weir-plot\" viewBox=\"0 0 {0:.0f} "
      "{1:.0f}\" "
      "width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\">\n<title>{2}</title>\n{3}\n"
      "<rect class=\"ground\" width=\"{0:.0f}\" height=\"{1:.0f}\"/>\n",
      kWidth, height, Escaped(title), kStyle);
  out += Text(kLeft, 22, "start", title, " class=\"title\"");
  out += Text(16, kTop + kPlot / 2, "middle", y_label,
              fmt::format(" transform=\"rotate(-90 16 {:.1f})\"", kTop + kPlot / 2));
  return out;
}

std::string YAxis(const Axis& axis) {
  std::string out;
  for (const double tick : axis.ticks) {
    out += Stroke(kLeft, Y(axis, tick), kWidth - kRight, Y(axis, tick), "grid");
    out += Text(kLeft - 8, Y(axis, tick) + 4, "end", Short(tick));
  }
  return out + Stroke(kLeft, kTop, kLeft, kBottom, "axis") +
         Stroke(kLeft, kBottom, kWidth - kRight, kBottom, "axis");
}

std::string StrokeOf(const Line& line) {
  const std::string colour =
      line.colour.empty() ? " class=\"ink\"" : fmt::format(" stroke=\"{}\"", line.colour);
  return colour + (line.dashed ? " stroke-dasharray=\"5 4\"" : "");
}

std::string PathOf(const Line& line, const Axis& x, const Axis& y) {
  std::string points;
  for (const auto& [at, value] : line.points) {
    points += fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ",
                          kLeft + kInner * x.Share(at), Y(y, value));
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke-width=\"1.8\"{}/>\n", points,
                     StrokeOf(line));
}

// Names in rows below the plot; `bottom` becomes where they end.
std::string Legend(const std::vector<Line>& lines, double& bottom) {
  std::string out;
  double x = kLeft;
  for (const Line& line : lines) {
    const double width = 44 + 7.0 * static_cast<double>(line.name.size());
    if (x + width > kWidth - kRight && x > kLeft) {
      x = kLeft;
      bottom += 20;
    }
    out += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke-width=\"3\"{}/>\n", x,
        bottom - 4, x + 22, bottom - 4, StrokeOf(line));
    out += Text(x + 28, bottom, "start", line.name);
    x += width;
  }
  return out;
}

// A line for each part between '+' signs.
std::string NameBelow(const std::string& name, double middle) {
  std::string out;
  double y = kBottom + 18;
  for (size_t from = 0; from < name.size(); y += 15) {
    const size_t end = std::min(name.find('+', from + 1), name.size());
    out += Text(middle, y, "middle", name.substr(from, end - from));
    from = end;
  }
  return out;
}

}  // namespace

std::vector<double> TicksBetween(double low, double high, int about) {
  const double rough = (high - low) / std::max(1, about);
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double part = rough / power;
  const double step = power * (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10);
  std::vector<double> ticks;
  const double first = std::floor(low / step + 1e-9);
  for (int i = 0; i < 100; ++i) {
    ticks.push_back((first + i) * step);
    if (ticks.back() >= high - step * 1e-9) break;
  }
  return ticks;
}

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += static_cast<unsigned char>(c) < 32 && c != '\n' && c != '\t' ? '?' : c;
    }
  }
  return out;
}

std::string ToSvg(const LineChart& chart) {
  double last = 0, most = 0;
  for (const Line& line : chart.lines) {
    for (const auto& [x, y] : line.points) last = std::max(last, x), most = std::max(most, y);
  }
  Axis x(0, last, 8), y(0, most, 5);
  x.high = last > 0 ? last : 1;
  double bottom = kBottom + 64;
  const std::string legend = Legend(chart.lines, bottom);
  std::string out = Begin(chart.title, chart.y_label, bottom + 16) + YAxis(y);
  for (const double tick : x.ticks) {
    if (tick > x.high) continue;
    const double at = kLeft + kInner * x.Share(tick);
    out += Stroke(at, kBottom, at, kBottom + 4, "axis") +
           Text(at, kBottom + 18, "middle", Short(tick));
  }
  out += Text(kLeft + kInner / 2, kBottom + 36, "middle", chart.x_label);
  for (const Line& line : chart.lines) out += PathOf(line, x, y);
  return out + legend + "</svg>\n";
}

std::string ToSvg(const BarChart& chart) {
  double most = chart.low;
  for (const Bar& bar : chart.bars) most = std::max({most, bar.value, bar.mark.value_or(0)});
  const Axis y(chart.low, most, 5);
  std::string out = Begin(chart.title, chart.y_label, kBottom + 62) + YAxis(y);
  const double slot = kInner / static_cast<double>(std::max<size_t>(1, chart.bars.size()));
  for (size_t i = 0; i < chart.bars.size(); ++i) {
    const Bar& bar = chart.bars[i];
    const double left = kLeft + slot * (static_cast<double>(i) + 0.17), width = slot * 0.66;
    const double top = Y(y, bar.value), middle = left + width / 2;
    out += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", left,
        top, width, kBottom - top, bar.colour);
    // Above the mark, where that would strike it through.
    const double mark = bar.mark ? Y(y, *bar.mark) : top;
    out += Text(middle, (mark < top && mark > top - 20 ? mark : top) - 5, "middle", bar.label);
    out += NameBelow(bar.name, middle);
    if (!bar.mark) continue;
    out += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"ink\" "
        "stroke-width=\"2\" stroke-dasharray=\"5 3\"/>\n",
        left - 6, mark, left + width + 6, mark);
  }
  if (!chart.mark_label.empty()) {
    out += Text(kWidth - kRight, 22, "end", "- - " + chart.mark_label);
  }
  return out + "</svg>\n";
}

}  // namespace weir::lab

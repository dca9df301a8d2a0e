#include "lab/replicated/report/figures.h"

#include <algorithm>

#include "lab/replicated/report/plot.h"
#include "lab/replicated/report/table.h"
#include "lab/replicated/report/verdicts.h"

namespace weir::lab {
namespace {

// Told apart by most eyes, on white and on black.
std::string ColourOf(const std::string& variant) {
  static const std::vector<std::pair<std::string, std::string>> colours = {
      {"counter", "#8c8c8c"},      {"counter+rows", "#c4a36a"},           {"queue", "#e69f00"},
      {"queue+linf", "#cc79a7"},   {"queue+frequency", "#3f8fd2"},        {"queue+both", "#d55e00"},
      {"queue+margin", "#a28be0"}, {"queue+frequency+margin", "#56c7d9"}, {"debt", "#00a878"}};
  for (const auto& [name, colour] : colours) {
    if (name == variant) return colour;
  }
  return "#999999";
}

using Get = double (*)(const Step&);

std::vector<std::pair<double, double>> Points(const ExperimentResult& result,
                                              const std::vector<Step>& steps, Get get, double scale,
                                              bool sum) {
  const double step = std::chrono::duration<double>(result.step).count();
  std::vector<std::pair<double, double>> points;
  double total = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    total = (sum ? total : 0) + get(steps[i]);
    points.push_back({step * static_cast<double>(i + 1), total * scale});
  }
  return points;
}

double Received(const Step& step) { return step.received; }
double Refused(const Step& step) { return step.refused; }
double RefusedCentrally(const Step& step) { return step.refused_centrally; }
double Admitted(const Step& step) { return step.received - step.refused; }
double AdmittedCentrally(const Step& step) { return step.received - step.refused_centrally; }
double Bytes(const Step& step) { return step.bytes_sent; }
double Memory(const Step& step) { return step.memory; }

// One line a variant.
void AddLines(const ExperimentResult& result, Get get, double scale, bool sum, LineChart& chart) {
  for (const VariantResult& variant : result.variants) {
    chart.lines.push_back({variant.variant, ColourOf(variant.variant), false,
                           Points(result, variant.steps, get, scale, sum)});
  }
}

std::string Bars(const ExperimentResult& result, const char* metric, const char* title,
                 const char* label) {
  BarChart chart{result.name + ": " + title, label, 0, "", {}};
  const std::vector<Claim> claims = ClaimsOn(result);
  double least = 100;
  for (const VariantResult& variant : result.variants) {
    const Metric& found = *variant.Find(metric);
    const Verdict verdict = Judge(claims, result, variant.variant, found);
    if (verdict.paper) chart.mark_label = "the thesis";
    least = std::min({least, found.value, verdict.paper.value_or(100)});
    chart.bars.push_back({variant.variant, ColourOf(variant.variant), found.value,
                          Readable(found.value, found.unit), verdict.paper});
  }
  if (std::string_view(metric) == "precision" && least >= 90) {
    chart.low = least >= 98 ? 98 : 90;
    chart.y_label += chart.low == 98 ? ", from 98" : ", from 90";
  }
  return ToSvg(chart);
}

// Until the last request. Of set D in all, where single requests count.
std::string OverTime(const ExperimentResult& result, bool admitted, bool sum) {
  LineChart chart{result.name + (admitted ? ": admitted" : ": refusals") + (sum ? " in all" : ""),
                  "seconds",
                  sum ? "requests" : "requests in a step",
                  {}};
  const std::vector<Step>& any = result.variants.front().steps;
  const Get central = admitted ? AdmittedCentrally : RefusedCentrally;
  if (!sum) chart.lines.push_back({"received", "", true, Points(result, any, Received, 1, sum)});
  AddLines(result, admitted ? Admitted : Refused, 1, sum, chart);
  chart.lines.push_back({"central", "", sum, Points(result, any, central, 1, sum)});
  size_t last = any.size();
  while (last > 1 && any[last - 1].received == 0) --last;
  for (Line& line : chart.lines) line.points.resize(std::min(line.points.size(), last));
  return ToSvg(chart);
}

// As the thesis has it: the counter's highest is 100 %.
std::string OfTheCounter(const ExperimentResult& result, Get get, const char* title) {
  const VariantResult* counter = result.Find("counter");
  double most = 0;
  if (counter != nullptr) {
    for (const Step& step : counter->steps) most = std::max(most, get(step));
  }
  const double scale = most > 0 ? 100 / most : 1;
  LineChart chart{
      result.name + ": " + title, "seconds", most > 0 ? "% of the counter's highest" : "bytes", {}};
  AddLines(result, get, scale, false, chart);
  return ToSvg(chart);
}

}  // namespace

std::vector<Figure> FiguresOf(const ExperimentResult& result) {
  if (result.variants.empty()) return {};
  const bool d = result.name.starts_with("spotify-d");
  std::vector<Figure> figures = {
      {"precision", Bars(result, "precision", "precision", "% of the central refusals")},
      {"refusals", OverTime(result, false, d)},
      {"memory", OfTheCounter(result, Memory, "memory of a node")},
      {"bandwidth", Bars(result, "bytes_sent", "bandwidth", "bytes sent in all")},
      {"bandwidth-time", OfTheCounter(result, Bytes, "bandwidth over time")}};
  if (d) figures.insert(figures.begin() + 2, {"admitted", OverTime(result, true, d)});
  return figures;
}

}  // namespace weir::lab

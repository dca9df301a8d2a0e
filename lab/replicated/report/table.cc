#include "lab/replicated/report/table.h"

#include <fmt/core.h>

#include <cmath>

#include "lab/replicated/report/verdicts.h"

namespace weir::lab {
namespace {

constexpr char kGreen[] = "\x1b[32m", kRed[] = "\x1b[31m", kBold[] = "\x1b[1m",
               kPlain[] = "\x1b[0m";

struct Column {
  const char* metric;
  const char* title;
};
constexpr Column kColumns[] = {
    {"precision", "precision"},         {"wrongful_refusals", "wrongful"},
    {"wrongful_lasting", "lasting"},    {"over_admission_max", "over max"},
    {"refusals_off_central", "off"},    {"converge_s", "converge"},
    {"bytes_sent", "bytes sent"},       {"bytes_ratio", "x counter"},
    {"memory_peak_bytes", "mem. peak"}, {"memory_mean_bytes", "mem. mean"},
    {"memory_ratio", "x counter"}};

std::string Paint(const std::string& text, const char* colour, bool colours) {
  return colours ? colour + text + kPlain : text;
}

std::string Cell(const VariantResult& variant, const Column& column) {
  const Metric* metric = variant.Find(column.metric);
  if (metric == nullptr) return "-";
  return (metric->at_least ? ">" : "") + Readable(metric->value, metric->unit);
}

void AddMetrics(const ExperimentResult& result, bool colours, std::string& out) {
  std::string head = fmt::format("{:<23}", "variant");
  for (const Column& column : kColumns) head += fmt::format("{:>11}", column.title);
  out += Paint(head, kBold, colours) + "\n";
  for (const VariantResult& variant : result.variants) {
    out += fmt::format("{:<23}", variant.variant);
    for (const Column& column : kColumns) out += fmt::format("{:>11}", Cell(variant, column));
    out += "\n";
  }
}

std::string VerdictLine(const std::string& variant, const Metric& metric, const Verdict& verdict,
                        bool colours) {
  const std::string paper = verdict.paper ? Readable(*verdict.paper, metric.unit) : "-";
  const std::string word = *verdict.ok ? "ok" : "not";
  return fmt::format("{:<23} {:<21}{:>10}{:>11}  {}  {}\n", variant, metric.name, paper,
                     Readable(metric.value, metric.unit),
                     Paint(fmt::format("{:<3}", word), *verdict.ok ? kGreen : kRed, colours),
                     verdict.tolerance);
}

void AddVerdicts(const ExperimentResult& result, bool colours, std::string& out) {
  const std::vector<Claim> claims = ClaimsOn(result);
  std::string lines;
  for (const VariantResult& variant : result.variants) {
    for (const Metric& metric : variant.metrics) {
      const Verdict verdict = Judge(claims, result, variant.variant, metric);
      if (!verdict.ok) continue;
      lines += VerdictLine(variant.variant, metric, verdict, colours);
      if (!verdict.why.empty()) lines += "    " + verdict.why + "\n";
    }
  }
  if (lines.empty()) return;
  const std::string head = fmt::format("{:<23} {:<21}{:>10}{:>11}  {}", "variant", "metric",
                                       "the paper", "here", "within");
  out += "\n" + Paint(head, kBold, colours) + "\n" + lines;
}

std::string OkOf(const Verdict& verdict, const char* none) {
  return !verdict.ok ? none : *verdict.ok ? "true" : "false";
}

// Whole numbers whole, others to six digits; the same text for the same run.
std::string Plain(double value) {
  return std::abs(value) < 1e15 && value == std::floor(value) ? fmt::format("{:.0f}", value)
                                                              : fmt::format("{:.6g}", value);
}

}  // namespace

std::string Readable(double value, const std::string& unit) {
  if (unit == "percent") return fmt::format("{:.2f} %", value);
  if (unit == "x") return fmt::format("{:.3g}x", value);
  if (unit == "seconds") return fmt::format("{:.1f} s", value);
  if (unit == "bytes" && value >= 1e7) return fmt::format("{:.1f} M", value / 1e6);
  if (unit == "bytes" && value >= 1e4) return fmt::format("{:.1f} k", value / 1e3);
  return value == std::floor(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

std::string AsTable(const ExperimentResult& result, bool colours) {
  std::string out =
      Paint(result.name, kBold, colours) + ": " + result.what + "\n" + result.parameters + "\n\n";
  AddMetrics(result, colours, out);
  AddVerdicts(result, colours, out);
  return out;
}

std::string AsJson(const ExperimentResult& result) {
  const std::vector<Claim> claims = ClaimsOn(result);
  std::string out;
  for (const VariantResult& variant : result.variants) {
    for (const Metric& metric : variant.metrics) {
      const Verdict verdict = Judge(claims, result, variant.variant, metric);
      out += fmt::format(
          "{{\"experiment\":\"{}\",\"variant\":\"{}\",\"metric\":\"{}\",\"paper\":{},\"value\":{},"
          "\"unit\":\"{}\",\"ok\":{}}}\n",
          result.name, variant.variant, metric.name, verdict.paper ? Plain(*verdict.paper) : "null",
          Plain(metric.value), metric.unit, OkOf(verdict, "null"));
    }
  }
  return out;
}

std::string AsCsv(const ExperimentResult& result) {
  const std::vector<Claim> claims = ClaimsOn(result);
  std::string out = "experiment,variant,metric,paper,value,unit,ok\n";
  for (const VariantResult& variant : result.variants) {
    for (const Metric& metric : variant.metrics) {
      const Verdict verdict = Judge(claims, result, variant.variant, metric);
      out += fmt::format("{},{},{},{},{},{},{}\n", result.name, variant.variant, metric.name,
                         verdict.paper ? Plain(*verdict.paper) : "", Plain(metric.value),
                         metric.unit, OkOf(verdict, ""));
    }
  }
  return out;
}

std::string StepsAsCsv(const ExperimentResult& result) {
  std::string out = "time_s,variant,received,refused,refused_centrally,bytes_sent,memory\n";
  const double step = std::chrono::duration<double>(result.step).count();
  for (const VariantResult& variant : result.variants) {
    for (size_t i = 0; i < variant.steps.size(); ++i) {
      const Step& one = variant.steps[i];
      out += fmt::format("{},{},{},{},{},{},{}\n", Plain(static_cast<double>(i + 1) * step),
                         variant.variant, Plain(one.received), Plain(one.refused),
                         Plain(one.refused_centrally), Plain(one.bytes_sent), Plain(one.memory));
    }
  }
  return out;
}

}  // namespace weir::lab

#include "lab/replicated/report/report.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "lab/replicated/report/figures.h"
#include "lab/replicated/report/plot.h"
#include "lab/replicated/report/table.h"
#include "lab/replicated/report/verdicts.h"

namespace weir::lab {
namespace {

constexpr char kHead[] = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>weir-lab</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
body{font:15px/1.5 system-ui,sans-serif;max-width:1480px;margin:2em auto;padding:0 1.5em;
  color:#222;background:#fff}
h1{font-size:1.7em}h2{margin-top:2.2em;border-top:1px solid #ccc;padding-top:1em}
table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums;font-size:14px}
th,td{padding:.25em .8em;text-align:right;border-bottom:1px solid #ddd}
td:not(:last-child),th{white-space:nowrap}
th:first-child,td:first-child,.l{text-align:left}
.ok{color:#0a7d4f;font-weight:600}.not{color:#c02f2f;font-weight:600}
.figures{display:grid;gap:1em;grid-template-columns:repeat(auto-fit,minmax(min(100%,560px),1fr))}
.figures svg{width:100%;height:auto}
code{background:#f1f1f1;padding:.1em .3em;border-radius:3px}.why{color:#666;font-size:13px}
nav a{margin-right:1em}.wide{overflow-x:auto}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#1d1f21}a{color:#7ab7ff}
  th,td{border-color:#3a3d40}h2{border-color:#555}code{background:#2b2e31}
  .ok{color:#3fc98f}.not{color:#ff7b72}.why{color:#aaa}}
</style></head><body>
<h1>Replicated limits in simulated time</h1>
<p>Precision is the refusals as a share of those of one limiter that sees every request. It
flatters whoever admits too much early, so look also at the greatest true debt above the capacity
(over max) and at refusals though there was room (wrongful; lasting: for longer than an envelope travels). Bytes are counted with the heads of IP
and UDP; memory is counted over the real structures of a node.</p>
)";

struct PageColumn {
  const char *metric, *title;
};
constexpr PageColumn kPageColumns[] = {{"precision", "precision"},
                                       {"wrongful_refusals", "wrongful"},
                                       {"wrongful_lasting", "lasting"},
                                       {"over_admission_max", "over max"},
                                       {"refusals_off_central", "off central"},
                                       {"converge_s", "converge"},
                                       {"bytes_sent", "bytes sent"},
                                       {"bytes_ratio", "× counter"},
                                       {"memory_peak_bytes", "memory peak"},
                                       {"memory_mean_bytes", "memory mean"},
                                       {"memory_ratio", "× counter"}};

std::string MetricsTable(const ExperimentResult& result) {
  std::string out = "<div class=\"wide\"><table><tr><th>variant</th>";
  for (const PageColumn& column : kPageColumns) out += fmt::format("<th>{}</th>", column.title);
  for (const VariantResult& variant : result.variants) {
    out += "</tr>\n<tr><td>" + Escaped(variant.variant) + "</td>";
    for (const PageColumn& column : kPageColumns) {
      const Metric* metric = variant.Find(column.metric);
      out += metric == nullptr ? "<td></td>"
                               : fmt::format("<td>{}{}</td>", metric->at_least ? "&gt; " : "",
                                             Readable(metric->value, metric->unit));
    }
  }
  return out + "</tr></table></div>\n";
}

std::string VerdictRow(const std::string& variant, const Metric& metric, const Verdict& verdict) {
  const char* word = *verdict.ok ? "ok" : "not";
  return fmt::format(
      "<tr><td>{}</td><td class=\"l\">{}</td><td>{}</td><td>{}</td><td class=\"{}\">{}</td>"
      "<td class=\"l\">{}<div class=\"why\">{}</div></td></tr>\n",
      Escaped(variant), metric.name, verdict.paper ? Readable(*verdict.paper, metric.unit) : "",
      Readable(metric.value, metric.unit), word, word, Escaped(verdict.tolerance),
      Escaped(verdict.why));
}

std::string VerdictsTable(const ExperimentResult& result) {
  const std::vector<Claim> claims = ClaimsOn(result);
  std::string rows;
  for (const VariantResult& variant : result.variants) {
    for (const Metric& metric : variant.metrics) {
      const Verdict verdict = Judge(claims, result, variant.variant, metric);
      if (verdict.ok) rows += VerdictRow(variant.variant, metric, verdict);
    }
  }
  if (rows.empty()) return "";
  return "<table><tr><th>variant</th><th class=\"l\">metric</th><th>the thesis</th><th>here</th>"
         "<th></th><th class=\"l\">within</th></tr>\n" +
         rows + "</table>\n";
}

std::string Section(const ExperimentResult& result) {
  std::string out = fmt::format("<h2 id=\"{0}\">{0}</h2>\n<p>{1}<br>{2}<br><code>{3}</code></p>\n",
                                Escaped(result.name), Escaped(result.what),
                                Escaped(result.parameters), Escaped(result.command));
  out += MetricsTable(result) + VerdictsTable(result) + "<div class=\"figures\">\n";
  for (const Figure& figure : FiguresOf(result)) out += figure.svg;
  return out + "</div>\n";
}

void Write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw std::runtime_error(path.string() + ": cannot be written");
}

std::filesystem::path Made(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw std::runtime_error(directory + ": " + error.message());
  return directory;
}

}  // namespace

void WriteFiles(const ExperimentResult& result, const std::string& directory) {
  const std::filesystem::path to = Made(directory);
  Write(to / (result.name + ".csv"), AsCsv(result));
  Write(to / (result.name + "-steps.csv"), StepsAsCsv(result));
  for (const Figure& figure : FiguresOf(result)) {
    Write(to / (result.name + "-" + figure.name + ".svg"), figure.svg);
  }
}

std::string ReportPage(const std::vector<ExperimentResult>& results) {
  std::string page = kHead;
  page += "<nav>";
  for (const ExperimentResult& result : results) {
    page += fmt::format("<a href=\"#{0}\">{0}</a>", Escaped(result.name));
  }
  page += "</nav>\n";
  for (const ExperimentResult& result : results) page += Section(result);
  return page + "</body></html>\n";
}

std::string WriteReport(const std::vector<ExperimentResult>& results,
                        const std::string& directory) {
  const std::filesystem::path path = Made(directory) / "report.html";
  Write(path, ReportPage(results));
  return path.string();
}

}  // namespace weir::lab

// The report of `weir check`.
#include <algorithm>
#include <array>

#include "base/plain_text.h"
#include "rules/print/print.h"
#include "rules/print/warnings.h"

namespace weir {
namespace {

// What a terminal is told; nothing without colours.
struct Paint {
  std::string_view bold, red, yellow, dim, plain;
};
constexpr Paint kColours = {"\x1b[1m", "\x1b[31m", "\x1b[33m", "\x1b[2m", "\x1b[0m"};
constexpr Paint kNoColours = {};

std::string Painted(std::string_view paint, std::string_view text, const Paint& all) {
  return std::string(paint) + std::string(text) + std::string(all.plain);
}

// Blanks as wide as the text: tabs stay tabs.
std::string Blank(std::string_view text) {
  std::string blank;
  while (!text.empty()) {
    const size_t tab = std::min(text.find('\t'), text.size());
    blank.append(Columns(text.substr(0, tab)), ' ');
    if (tab < text.size()) blank += '\t';
    text.remove_prefix(std::min(tab + 1, text.size()));
  }
  return blank;
}

std::string PrintMistake(const Diagnostic& mistake, const Paint& paint) {
  Diagnostic place = mistake;
  place.message.clear();
  std::string text = Painted(paint.bold, PlainText(ToString(place)), paint) +
                     Painted(paint.red, PlainText(mistake.message), paint) + "\n";
  if (mistake.excerpt.empty()) return text;
  const std::string number = std::to_string(mistake.line);
  const std::string margin(std::max<size_t>(6, number.size()) - number.size(), ' ');
  const std::string before = PlainLines(mistake.excerpt.substr(0, mistake.caret));
  text += Painted(paint.dim, margin + number + " | ", paint) + PlainLines(mistake.excerpt) + "\n";
  text += Painted(paint.dim, Blank(margin + number) + " | ", paint) + Blank(before) +
          Painted(paint.red, "^", paint) + "\n";
  return text;
}

std::string PrintMistakes(const std::vector<Diagnostic>& mistakes, const Paint& paint) {
  std::string text;
  for (const Diagnostic& mistake : mistakes) text += PrintMistake(mistake, paint);
  const std::string count = std::to_string(mistakes.size());
  return text + count + (mistakes.size() == 1 ? " mistake" : " mistakes") +
         "; none of these rules take effect\n";
}

// A table, in comments.
std::string PrintChanges(const std::vector<Normalisation>& changes, const Paint& paint) {
  using Row = std::array<std::string, 5>;
  std::vector<Row> rows = {{"where", "written", "taken as", "why", "line"}};
  for (const Normalisation& change : changes) {
    rows.push_back({PlainText(change.path), PlainText(change.from), PlainText(change.to),
                    PlainText(change.why),
                    PlainText(change.file) + ":" + std::to_string(change.line)});
  }
  std::array<size_t, 5> widths{};
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], Columns(row[i]));
  }
  std::string text = "\n# Normalised: not everything is taken as it was written.\n";
  for (const Row& row : rows) {
    std::string line = "#";
    for (size_t i = 0; i < row.size(); ++i) {
      line += "  " + row[i];
      if (i + 1 < row.size()) line.append(widths[i] - Columns(row[i]), ' ');
    }
    text += line + "\n";
  }
  return Painted(paint.yellow, text, paint);
}

std::string PrintWarnings(const std::vector<std::string>& warnings, const Paint& paint) {
  std::string text = "\n# Warnings: right, but is it meant?\n";
  for (const std::string& warning : warnings) text += "#  " + warning + "\n";
  return Painted(paint.yellow, text, paint);
}

}  // namespace

std::string CheckReport(const ParseResult& result, bool colours) {
  const Paint& paint = colours ? kColours : kNoColours;
  if (!result.ok()) return PrintMistakes(result.errors, paint);
  std::string text = PrintRules(*result.rules);
  if (!result.changes.empty()) text += PrintChanges(result.changes, paint);
  if (const auto warnings = RuleWarnings(*result.rules); !warnings.empty()) {
    text += PrintWarnings(warnings, paint);
  }
  return text;
}

}  // namespace weir

#include "rules/text/scalars.h"

#include <algorithm>
#include <vector>

#include "algorithms/algorithm.h"
#include "rules/text/number_text.h"
#include "rules/text/utf8.h"

namespace weir {
namespace {

std::string Cut(std::string_view text) {
  constexpr size_t kMost = 60;
  return Shortened(text, kMost) + (text.size() > kMost ? "…" : "");
}

// "`limit` is `x`".
std::string Is(std::string_view field, const Node& node) {
  return "`" + std::string(field) + "` is " + Shown(node);
}

std::optional<uint64_t> ReadDigits(const Node& node, std::string_view field, Source& source,
                                   std::string_view or_else) {
  const bool is_plain = node.IsScalar() && !node.quoted;
  const std::optional<uint64_t> number = is_plain ? ParseNumber(node.text) : std::nullopt;
  if (number && *number <= kMostNumber) return number;
  const bool too_large = is_plain && AllDigits(node.text) && (number || node.text[0] != '0');
  std::string message = Is(field, node);
  if (too_large) {
    message += ", which is too large: at most " + std::to_string(kMostNumber);
  } else {
    message += "; it must be a whole number from 0, in decimal digits";
    if (node.IsScalar() && node.quoted) message += " without quotes";
  }
  source.Error(node.mark, message + std::string(or_else));
  return std::nullopt;
}

// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::optional<uint64_t> ReadNumber(const Node& node, std::string_view field, Source& source) {
  return ReadDigits(node, field, source, "");
}

std::optional<uint64_t> ReadLimitNumber(const Node& node, std::string_view field, Source& source) {
  if (node.IsScalar() && node.text == "unlimited") return kUnlimited;
  return ReadDigits(node, field, source, ", or `unlimited`");
}

std::optional<bool> ReadFlag(const Node& node, std::string_view field, Source& source) {
  if (node.IsScalar() && !node.quoted && node.text == "true") return true;
  if (node.IsScalar() && !node.quoted && node.text == "false") return false;
  source.Error(node.mark, Is(field, node) + "; it must be `true` or `false`");
  return std::nullopt;
}

std::optional<Period> ReadPeriod(const Node& node, std::string_view field, Source& source) {
  std::string why = "is no length of time: write it as `1s` or `90m`";
  if (node.IsScalar()) {
    if (const auto period = ParsePeriod(node.text, &why)) return period;
  }
  source.Error(node.mark, Is(field, node) + ", which " + why);
  return std::nullopt;
}

std::optional<Duration> ReadDuration(const Node& node, std::string_view field, Source& source) {
  const std::optional<Period> period = ReadPeriod(node, field, source);
  if (!period) return std::nullopt;
  if (period->kind == Period::Kind::kFixed) return period->length;
  source.Error(node.mark, Is(field, node) +
                              "; months and years have no fixed length: write days, "
                              "as `30d`");
  return std::nullopt;
}

std::optional<std::string> ReadName(const Node& node, std::string_view what, Source& source,
                                    size_t most) {
  std::string wrong;
  if (!node.IsScalar()) {
    wrong = " must be a word, not " + Shown(node);
  } else if (node.text.empty()) {
    wrong = " must not be empty";
  } else if (node.text.size() > most) {
    wrong = " has " + std::to_string(node.text.size()) + " bytes; at most " + std::to_string(most) +
            " are allowed";
  } else if (HasControlCharacter(node.text)) {
    wrong = " must not contain control characters";
  } else {
    return std::string(node.text);
  }
  source.Error(node.mark, std::string(what) + wrong);
  return std::nullopt;
}

std::optional<std::string> ReadText(const Node& node, std::string_view field, Source& source) {
  if (node.IsScalar()) return std::string(node.text);
  source.Error(node.mark, Is(field, node) + "; it must be text");
  return std::nullopt;
}

std::optional<size_t> ReadWord(const Node& node, std::string_view field,
                               std::span<const std::string_view> words, Source& source) {
  if (node.IsScalar()) {
    const auto at = std::find(words.begin(), words.end(), node.text);
    if (at != words.end()) return static_cast<size_t>(at - words.begin());
  }
  source.Error(node.mark, Is(field, node) + "; it must be " + Listed(words) +
                              (node.IsScalar() ? Suggested(node.text, words) : ""));
  return std::nullopt;
}

std::string Ticked(std::string_view name) { return "`" + Cut(name) + "`"; }

std::string Shown(const Node& node) {
  switch (node.kind) {
    case Node::Kind::kNull: return "empty";
    case Node::Kind::kList: return "a list";
    case Node::Kind::kMap: return "a map";
    case Node::Kind::kScalar: break;
  }
  return node.quoted ? "the text \"" + Cut(node.text) + "\"" : Ticked(node.text);
}

std::string Listed(std::span<const std::string_view> words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += "`" + std::string(words[i]) + "`";
  }
  return text;
}

std::string Suggested(std::string_view word, std::span<const std::string_view> words) {
  if (word.size() > 64) return "";
  std::string_view best;
  size_t least = std::min<size_t>(3, std::max<size_t>(2, word.size() / 2 + 1));
  for (const std::string_view candidate : words) {
    const size_t distance = Distance(word, candidate);
    if (distance < least) best = candidate, least = distance;
  }
  return best.empty() ? "" : "; did you mean `" + std::string(best) + "`?";
}

std::string Choice(std::string_view word, std::span<const std::string_view> words) {
  if (words.empty()) return "";
  const std::string suggested = Suggested(word, words);
  return suggested.empty() ? "; choose " + Listed(words) : suggested;
}

}  // namespace weir

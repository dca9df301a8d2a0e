// Reads single values off a tree. Each function notes an error and returns nothing if the value is
// not what it must be; `field` is how the message names it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rules/text/document.h"
#include "rules/text/period.h"

namespace weir {

inline constexpr size_t kMostNameBytes = 255;
inline constexpr size_t kMostSubjectBytes = 1024;
inline constexpr uint64_t kMostNumber = uint64_t{1} << 53;

// A whole number up to kMostNumber.
std::optional<uint64_t> ReadNumber(const Node& node, std::string_view field, Source& source);
// The same, or `unlimited`, which is kUnlimited (algorithms/algorithm.h).
std::optional<uint64_t> ReadLimitNumber(const Node& node, std::string_view field, Source& source);
std::optional<bool> ReadFlag(const Node& node, std::string_view field, Source& source);
std::optional<Period> ReadPeriod(const Node& node, std::string_view field, Source& source);
// A fixed length of time.
std::optional<Duration> ReadDuration(const Node& node, std::string_view field, Source& source);
// Text of 1 to `most` bytes without control characters; `what` as in "a limit's name".
std::optional<std::string> ReadName(const Node& node, std::string_view what, Source& source,
                                    size_t most = kMostNameBytes);
// Any text.
std::optional<std::string> ReadText(const Node& node, std::string_view field, Source& source);
// One of the words: its place among them.
std::optional<size_t> ReadWord(const Node& node, std::string_view field,
                               std::span<const std::string_view> words, Source& source);

// One of the words, as the enumerator with the same place.
template <typename Enum, size_t n>
std::optional<Enum> ReadEnum(const Node& node, std::string_view field,
                             const std::array<std::string_view, n>& words, Source& source) {
  const std::optional<size_t> place = ReadWord(node, field, words, source);
  if (!place) return std::nullopt;
  return static_cast<Enum>(*place);
}

// How a message shows a name: in ticks, shortened.
std::string Ticked(std::string_view name);
// How a message shows a value: "`5`", "the text "5"", "a list", "empty".
std::string Shown(const Node& node);
// "`a`, `b` or `c`".
std::string Listed(std::span<const std::string_view> words);
// "; did you mean `x`?" for the nearest word, or "" if none is near.
std::string Suggested(std::string_view word, std::span<const std::string_view> words);
// The same, or "; choose `a` or `b`" if none is near, or "" if there are none.
std::string Choice(std::string_view word, std::span<const std::string_view> words);

}  // namespace weir

#include "base/plain_text.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/utf8.h"

namespace weir {
namespace {

struct Range {
  char32_t first, last;
};

bool IsIn(std::span<const Range> ranges, char32_t c) {
  for (const Range& range : ranges) {
    if (c >= range.first && c <= range.last) return true;
  }
  return false;
}

// Beside the control characters.
constexpr std::array<Range, 17> kMisleading = {
    {{0x00ad, 0x00ad},      // a hyphen that is not shown
     {0x034f, 0x034f},      // a joiner
     {0x061c, 0x061c},      // a mark of direction
     {0x115f, 0x1160},      // letters without a shape
     {0x17b4, 0x17b5},      //
     {0x180b, 0x180f},      // selectors of variants
     {0x200b, 0x200f},      // no width, marks of direction
     {0x2028, 0x202e},      // line ends, embeddings
     {0x2060, 0x206f},      // no width, isolates
     {0x3164, 0x3164},      // a letter without a shape
     {0xfe00, 0xfe0f},      // selectors of variants
     {0xfeff, 0xfeff},      // a byte order mark
     {0xffa0, 0xffa0},      // a letter without a shape
     {0xfff0, 0xfffb},      // annotations
     {0x1bca0, 0x1bca3},    // controls of shorthand
     {0x1d173, 0x1d17a},    // and of music
     {0xe0000, 0xe0fff}}};  // tags, selectors of variants
constexpr std::array<Range, 6> kNoColumn = {{{0x0300, 0x036f},
                                             {0x0483, 0x0489},
                                             {0x0591, 0x05bd},
                                             {0x064b, 0x065f},
                                             {0x20d0, 0x20f0},
                                             {0xfe20, 0xfe2f}}};
constexpr std::array<Range, 11> kTwoColumns = {{{0x1100, 0x115f},
                                                {0x231a, 0x231b},
                                                {0x23e9, 0x23ec},
                                                {0x2e80, 0x303e},
                                                {0x3041, 0xa4cf},
                                                {0xa960, 0xa97c},
                                                {0xac00, 0xd7a3},
                                                {0xf900, 0xfaff},
                                                {0xfe30, 0xfe6f},
                                                {0xff00, 0xff60},
                                                {0x1f300, 0x1faff}}};
constexpr Range kMoreIdeographs = {0x20000, 0x3fffd};

size_t ColumnsOf(char32_t c) {
  if (c < 0x300) return 1;
  if (IsIn(kNoColumn, c)) return 0;
  return IsIn(kTwoColumns, c) || IsIn({&kMoreIdeographs, 1}, c) ? 2 : 1;
}

constexpr std::string_view kHex = "0123456789abcdef";

void AppendUnit(char32_t c, std::string& out) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHex[c >> shift & 15];
}

void AppendEscape(char32_t c, std::string& out) {
  switch (c) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (c > 0xffff) {  // as JSON has it: two halves
    AppendUnit(0xd800 + ((c - 0x10000) >> 10), out);
    c = 0xdc00 + (c & 0x3ff);
  }
  AppendUnit(c, out);
}

// Appends the first character, or what stands for it; returns how many bytes it had.
size_t AppendPlain(std::string_view text, bool lines, std::string& out) {
  const Utf8Character c = FirstCharacter(text);
  if (c.bytes == 0) {
    const auto byte = static_cast<unsigned char>(text[0]);
    out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    return 1;
  }
  const bool layout = lines && (c.code == '\n' || c.code == '\t');
  if (IsUnsafe(c.code) && !layout) {
    AppendEscape(c.code, out);
  } else {
    out += text.substr(0, c.bytes);
  }
  return c.bytes;
}

std::string Plain(std::string_view text, bool lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) text.remove_prefix(AppendPlain(text, lines, out));
  return out;
}

}  // namespace

bool IsUnsafe(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xad && IsIn(kMisleading, c));
}

std::string PlainText(std::string_view text) { return Plain(text, false); }

std::string PlainLines(std::string_view text) { return Plain(text, true); }

bool IsPlainText(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character c = FirstCharacter(text);
    if (c.bytes == 0 || IsUnsafe(c.code)) return false;
    text.remove_prefix(c.bytes);
  }
  return true;
}

size_t Columns(std::string_view plain) {
  size_t columns = 0;
  while (!plain.empty()) {
    const Utf8Character c = FirstCharacter(plain);
    columns += c.bytes == 0 ? 1 : ColumnsOf(c.code);
    plain.remove_prefix(std::max<size_t>(1, c.bytes));
  }
  return columns;
}

std::string Cut(std::string_view text, size_t columns) {
  std::string plain = PlainText(text);
  if (Columns(plain) <= columns) return plain;
  if (columns == 0) return {};
  std::string_view left = plain;
  size_t used = 0;
  while (true) {
    const Utf8Character c = FirstCharacter(left);
    const size_t wide = ColumnsOf(c.code);
    if (used + wide > columns - 1) break;
    used += wide;
    left.remove_prefix(c.bytes);
  }
  plain.resize(plain.size() - left.size());
  return plain + "…";
}

std::string Fitted(std::string_view text, size_t columns) {
  std::string cut = Cut(text, columns);
  cut.append(columns - Columns(cut), ' ');
  return cut;
}

}  // namespace weir

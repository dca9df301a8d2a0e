#include "base/utf8.h"

namespace weir {
namespace {

struct Form {
  uint8_t lead_mask, lead, length;
  uint32_t least;  // anything smaller has a shorter form
};
constexpr Form kForms[] = {{0xe0, 0xc0, 2, 0x80}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};

}  // namespace

Utf8Character FirstCharacter(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  for (const Form& form : kForms) {
    if ((byte(0) & form.lead_mask) != form.lead) continue;
    if (text.size() < form.length) return {};
    uint32_t c = byte(0) & static_cast<uint8_t>(~form.lead_mask);
    for (size_t i = 1; i < form.length; ++i) {
      if ((byte(i) & 0xc0) != 0x80) return {};
      c = c << 6 | (byte(i) & 0x3f);
    }
    const bool surrogate = c >= 0xd800 && c < 0xe000;
    if (c < form.least || c > 0x10ffff || surrogate) return {};
    return {c, form.length};
  }
  return {};
}

}  // namespace weir

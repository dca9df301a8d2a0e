// What the lab tells: formats are ours, values may be anybody's (a trace's, a user's), and are made
// plain (base/plain_text.h).
#pragma once

#include <cstdio>

#include "base/plain_text.h"

namespace weir::lab {

template <typename... T>
void Print(PlainFormatString<std::type_identity_t<T>...> format, const T&... values) {
  std::fputs(PlainFormat(format, values...).c_str(), stdout);
}
template <typename... T>
void PrintError(PlainFormatString<std::type_identity_t<T>...> format, const T&... values) {
  std::fputs(PlainFormat(format, values...).c_str(), stderr);
}
// A text of many lines, from elsewhere.
inline void PrintLines(std::string_view text) { std::fputs(PlainLines(text).c_str(), stdout); }

}  // namespace weir::lab

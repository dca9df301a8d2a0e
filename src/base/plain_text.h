// Text that came from outside, made safe to be shown.
//
// A terminal takes control characters for commands: one clears it, another sets its title, a line
// end breaks a table or forges a line of a log; others turn the direction of what follows, so that
// it reads as something else, or are not seen at all, so that two names look alike. Names of subjects, a server's messages, lines of a user's file: all of
// it may hold such characters. Here they become what a programmer reads:
//
//   ESC \u001b   line end \n   U+009B \u009b   U+202E \u202e   U+200B \u200b   U+E0001 \udb40\udc01
//   the byte ff, which is no UTF-8, \xff
//
// Everything else stays, whatever the script. That costs some scripts and emoji a joiner (U+200C, U+200D) or a
// variation selector, which then are shown in figures. What is escaped inside a string of JSON is the same string
// still (but for \xff, which it cannot hold); YAML has the same escapes below U+10000, and writes what is above as
// it reads it itself (rules/text/scalar_text.cc).
//
// Called where text leaves the program: base/terminal.h for the command line and the lab, server/plain_log.h
// for the log. Nothing else writes to a terminal; tests/style sees to it.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace weir {

// Would a terminal obey it, or a reader be misled by it? Control characters (C0, DEL, C1), line and
// paragraph separators, whatever changes the direction of text, and whatever takes no room and shows nothing
// (Unicode's Default_Ignorable_Code_Point).
bool IsUnsafe(char32_t c);

// On one line.
std::string PlainText(std::string_view text);
// The same, but line ends and tabs stay: for a text of many lines.
std::string PlainLines(std::string_view text);
bool IsPlainText(std::string_view text);  // PlainText would leave it as it is

// How many columns of a terminal it takes. An estimate: wide characters of East Asia and emoji take
// two, marks that combine with what is before them none.
size_t Columns(std::string_view plain);
// PlainText in exactly so many columns: filled with blanks, or cut, with … as its last.
std::string Fitted(std::string_view text, size_t columns);
// In at most so many.
std::string Cut(std::string_view text, size_t columns);

// fmt::format whose format is ours, and whose text arguments are anybody's: each is made plain
// before it is put in.
template <typename T>
struct PlainArgument {
  using Type = const T&;
  static Type Of(const T& value) { return value; }
};
template <typename T>
requires std::convertible_to<const T&, std::string_view>
struct PlainArgument<T> {
  using Type = std::string;
  static Type Of(const T& value) { return PlainText(value); }
};
template <>
struct PlainArgument<char> {
  using Type = std::string;
  static Type Of(char value) { return PlainText({&value, 1}); }
};

template <typename... T>
using PlainFormatString = fmt::format_string<typename PlainArgument<T>::Type...>;

template <typename... T>
std::string PlainFormat(PlainFormatString<std::type_identity_t<T>...> format, const T&... values) {
  return fmt::format(format, PlainArgument<T>::Of(values)...);
}

}  // namespace weir

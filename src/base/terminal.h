// Where the command line writes to: standard output or standard error, at a terminal or not.
//
// What is ours (the words of a format, line ends, colours) and what is anybody's (names, messages of
// a server, lines of a file) come in by different doors, and all that is anybody's is made plain
// (base/plain_text.h). There is no door for a text as it is. Commands have no std::ostream, and
// tests/style keeps std::cout and its like out of them: so it cannot be forgotten.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include "base/plain_text.h"

namespace weir {

enum class Ink { kPlain, kBold, kDim, kRed, kGreen, kYellow };

class Terminal {
 public:
  Terminal(std::ostream& out, bool colours) : out_(out), colours_(colours) {}

  bool colours() const { return colours_; }

  // The format is ours, a literal; the values are not.
  template <typename... T>
  void Print(PlainFormatString<std::type_identity_t<T>...> format, const T&... values) {
    out_ << PlainFormat(format, values...);
  }
  // The same in a colour, where there are colours.
  template <typename... T>
  void Paint(Ink ink, PlainFormatString<std::type_identity_t<T>...> format, const T&... values) {
    out_ << Painted(ink, PlainFormat(format, values...));
  }
  // A text of many lines.
  void Lines(std::string_view text) { out_ << PlainLines(text); }
  // The same, written by Painted and PlainFormat: colours stay, where there are any.
  void PaintedLines(std::string_view text);
  void Flush() { out_ << std::flush; }

  std::string Painted(Ink ink, std::string_view text) const { return Painted(ink, text, colours_); }
  static std::string Painted(Ink ink, std::string_view text, bool colours);

 private:
  std::ostream& out_;
  const bool colours_;
};

}  // namespace weir

#include "base/plain_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>

#include "base/terminal.h"
#include "base/utf8.h"

namespace weir::plain_text_test {
namespace {

TEST(PlainText, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(PlainText("\x1b]0;owned\x07"), "\\u001b]0;owned\\u0007");
  EXPECT_EQ(PlainText("\x1b[2J"), "\\u001b[2J");
  EXPECT_EQ(PlainText("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(PlainText(std::string_view("\0", 1)), "\\u0000");
  EXPECT_EQ(PlainText("\x7f"), "\\u007f");
  EXPECT_EQ(PlainText("\xc2\x9b"), "\\u009b");  // CSI in one character
  EXPECT_EQ(PlainText("\x9b"), "\\x9b");        // and as a byte that is no UTF-8
  EXPECT_EQ(PlainText("\xe2\x80\xae"), "\\u202e");
  EXPECT_EQ(PlainText("\xe2\x81\xa6\xe2\x81\xa9"), "\\u2066\\u2069");
  EXPECT_EQ(PlainText("\xe2\x80\xa8\xe2\x80\xa9"), "\\u2028\\u2029");
}

TEST(PlainText, ShowsWhatIsNotSeen) {
  for (const int code : {0xad,   0x34f,  0x61c,  0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x200b,
                         0x200c, 0x200d, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e,
                         0x2060, 0x2061, 0x2064, 0x2065, 0x2066, 0x2067, 0x2068, 0x2069, 0x206a,
                         0x206f, 0x3164, 0xfe00, 0xfe0f, 0xfeff, 0xffa0, 0xfff0, 0xfff9, 0xfffb}) {
    const auto unseen = static_cast<char32_t>(code);
    std::string text = "an";
    if (unseen < 0x800) {
      text += {static_cast<char>(0xc0 | unseen >> 6), static_cast<char>(0x80 | (unseen & 63))};
    } else {
      text += {static_cast<char>(0xe0 | unseen >> 12), static_cast<char>(0x80 | (unseen >> 6 & 63)),
               static_cast<char>(0x80 | (unseen & 63))};
    }
    EXPECT_EQ(PlainText(text + "n"), fmt::format("an\\u{:04x}n", code));
  }
  EXPECT_EQ(PlainText("\xf3\xa0\x80\x81"), "\\udb40\\udc01");  // U+E0001: as JSON spells it
  EXPECT_EQ(PlainText("\xf3\xa0\x87\xaf"), "\\udb40\\uddef");  // U+E01EF
  EXPECT_EQ(PlainText("\xf0\x9d\x85\xb3"), "\\ud834\\udd73");  // U+1D173
}

TEST(PlainText, LeavesEveryScript) {
  for (const std::string text :
       {"ann", "Åsa", "подписчик", "用户", "مستخدم", "👩🚀", "a\\b", "ﬁ €"}) {
    EXPECT_EQ(PlainText(text), text);
    EXPECT_TRUE(IsPlainText(text));
  }
}

TEST(PlainText, TellsBytesThatAreNoText) {
  EXPECT_EQ(PlainText("\xff"), "\\xff");
  EXPECT_EQ(PlainText("\xc3"), "\\xc3");                    // cut
  EXPECT_EQ(PlainText("\xc0\x8a"), "\\xc0\\x8a");           // a line end in too long a form
  EXPECT_EQ(PlainText("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_FALSE(IsPlainText("\xff"));
}

TEST(PlainText, OfAnyBytesIsTextWithoutControls) {
  EXPECT_TRUE(rc::check([](const std::string& bytes) {
    for (const std::string& text : {PlainText(bytes), Cut(bytes, 7), Fitted(bytes, 5)}) {
      RC_ASSERT(IsPlainText(text));
    }
    RC_ASSERT(Columns(Cut(bytes, 7)) <= 7u);
    RC_ASSERT(Columns(Fitted(bytes, 5)) == 5u);
    RC_ASSERT(PlainText(PlainText(bytes)) == PlainText(bytes));
  }));
}

TEST(PlainText, KeepsLinesWhereTheyAreWanted) {
  EXPECT_EQ(PlainLines("a\n\tb\x1b[2J\r\n"), "a\n\tb\\u001b[2J\\r\n");
}

TEST(PlainText, FitsColumns) {
  EXPECT_EQ(Fitted("ann", 5), "ann  ");
  EXPECT_EQ(Fitted("annabel", 5), "anna…");
  EXPECT_EQ(Fitted("用户名", 5), "用户…");
  EXPECT_EQ(Fitted("用户名", 4), "用… ");  // half a character is none
  EXPECT_EQ(Fitted("a\nb", 4), "a\\nb");
  EXPECT_EQ(Columns("e\xcc\x81"), 1u);  // e and an accent
  EXPECT_EQ(Cut("ann", 0), "");
}

TEST(PlainText, FormatsAreOursAndValuesAreNot) {
  EXPECT_EQ(PlainFormat("\x1b[1m{}\x1b[0m\n{:>3}", "a\nb", 7), "\x1b[1ma\\nb\x1b[0m\n  7");
  const std::string name = "\x1b[2J";
  EXPECT_EQ(PlainFormat("{} {} {}", name, std::string_view(name), name.c_str()),
            "\\u001b[2J \\u001b[2J \\u001b[2J");
  EXPECT_EQ(PlainFormat("{}", '\x1b'), "\\u001b");
}

TEST(Terminal, LetsThroughItsOwnColoursOnly) {
  std::ostringstream out;
  Terminal terminal(out, true);
  terminal.Paint(Ink::kRed, "{}\n", "\x1b[32mgreen");
  terminal.PaintedLines(Terminal::Painted(Ink::kBold, "x", true) +
                        "\x1b[2J\x1b[31;1m\x1b]0;t\x07\n");
  EXPECT_EQ(out.str(),
            "\x1b[31m\\u001b[32mgreen\n\x1b[0m"
            "\x1b[1mx\x1b[0m\\u001b[2J\\u001b[31;1m\\u001b]0;t\\u0007\n");
  std::ostringstream grey;
  Terminal(grey, false).PaintedLines("\x1b[31mred");
  EXPECT_EQ(grey.str(), "\\u001b[31mred");
}

}  // namespace
}  // namespace weir::plain_text_test

#include "rules/text/json_text.h"

#include <cstdint>
#include <string>

namespace weir {
namespace {

void AppendUtf8(std::string& out, uint32_t c) {
  const auto add = [&](uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return add(c);
  if (c < 0x800) return add(0xc0 | c >> 6), add(0x80 | (c & 0x3f));
  if (c < 0x10000) {
    return add(0xe0 | c >> 12), add(0x80 | (c >> 6 & 0x3f)), add(0x80 | (c & 0x3f));
  }
  add(0xf0 | c >> 18), add(0x80 | (c >> 12 & 0x3f)), add(0x80 | (c >> 6 & 0x3f));
  add(0x80 | (c & 0x3f));
}

bool IsWordCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' || c == '.' ||
         c == 'E';
}

// Recursion is bounded by the builder, which refuses what is nested too deep.
class JsonReader {
 public:
  JsonReader(std::string_view text, TreeBuilder& builder) : text_(text), builder_(builder) {}

  bool Document() {
    Blank();
    if (!Value()) return false;
    Blank();
    return at_ == text_.size();
  }

 private:
  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool Eat(char c) { return Peek() == c && ++at_; }
  Mark Here() const { return {line_, static_cast<uint32_t>(at_ - line_start_ + 1)}; }

  void Blank() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        line_ += 1;
        line_start_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  bool Value() {
    switch (Peek()) {
      case '{': return Map();
      case '[': return List();
      case '"': return Text();
      default: return Word();
    }
  }

  bool Map() {
    builder_.Open(Node::Kind::kMap, Here());
    ++at_;
    Blank();
    if (!Eat('}')) {
      do {
        Blank();
        if (Peek() != '"' || !Text()) return false;
        Blank();
        if (!Eat(':')) return false;
        Blank();
        if (!Value()) return false;
        Blank();
      } while (Eat(','));
      if (!Eat('}')) return false;
    }
    builder_.Close();
    return true;
  }

  bool List() {
    builder_.Open(Node::Kind::kList, Here());
    ++at_;
    Blank();
    if (!Eat(']')) {
      do {
        Blank();
        if (!Value()) return false;
        Blank();
      } while (Eat(','));
      if (!Eat(']')) return false;
    }
    builder_.Close();
    return true;
  }

  bool Text() {
    const Mark mark = Here();
    const size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\\' && text_[at_] != '\n') {
      ++at_;
    }
    if (Eat('"')) {
      builder_.Scalar(mark, text_.substr(start, at_ - 1 - start), true);
      return true;
    }
    unescaped_.assign(text_.substr(start, at_ - start));
    while (Peek() != '"') {
      if (at_ >= text_.size() || Peek() == '\n') return false;
      if (!Eat('\\')) {
        unescaped_.push_back(text_[at_++]);
      } else if (!Escape()) {
        return false;
      }
    }
    ++at_;
    builder_.Scalar(mark, unescaped_, true);
    return true;
  }

  bool Escape() {
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    const char c = Peek();
    ++at_;
    if (c != 'u') {
      const size_t place = kFrom.find(c);
      if (place == std::string_view::npos) return false;
      unescaped_.push_back(kTo[place]);
      return true;
    }
    uint32_t code = 0, low = 0;
    if (!Hex(code)) return false;
    if (code >= 0xdc00 && code < 0xe000) return false;
    if (code >= 0xd800 && code < 0xdc00) {
      if (!Eat('\\') || !Eat('u') || !Hex(low) || low < 0xdc00 || low >= 0xe000) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    AppendUtf8(unescaped_, code);
    return true;
  }

  bool Hex(uint32_t& code) {
    for (int i = 0; i < 4; ++i, ++at_) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      const size_t digit = kDigits.find(static_cast<char>(Peek() | 0x20));
      if (digit == std::string_view::npos) return false;
      code = code << 4 | static_cast<uint32_t>(digit);
    }
    return true;
  }

  // A number, true, false or null. What a number must look like is for its reader to say.
  bool Word() {
    const Mark mark = Here();
    const size_t start = at_;
    while (at_ < text_.size() && IsWordCharacter(text_[at_])) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if (word == "null") {
      builder_.Null(mark);
      return true;
    }
    const bool is_number = !word.empty() && (word[0] == '-' || (word[0] >= '0' && word[0] <= '9'));
    if (word != "true" && word != "false" && !is_number) return false;
    builder_.Scalar(mark, word, false);
    return true;
  }

  std::string_view text_;
  TreeBuilder& builder_;
  size_t at_ = 0;
  uint32_t line_ = 1;
  size_t line_start_ = 0;
  std::string unescaped_;
};

}  // namespace

bool ReadJson(std::string_view text, TreeBuilder& builder) {
  return JsonReader(text, builder).Document();
}

}  // namespace weir

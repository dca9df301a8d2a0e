// Writes answers in either form of the Redis protocol. RESP2 knows neither maps nor booleans nor a
// null of its own: a map is a flat array of name, value, a boolean is 0 or 1, null a bulk of
// length -1.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "fronts/codes.h"
#include "fronts/numbers.h"

namespace weir::resp {

enum class Form { kResp2, kResp3 };

// The name of a field as a bulk string, written when the program is compiled.
class Name {
 public:
  constexpr explicit Name(std::string_view name) {
    Put('$');
    if (name.size() > 9) Put(static_cast<char>('0' + name.size() / 10));
    Put(static_cast<char>('0' + name.size() % 10));
    Put('\r'), Put('\n');
    for (const char c : name) Put(c);
    Put('\r'), Put('\n');
  }
  constexpr std::string_view encoded() const { return {text_.data(), size_}; }

 private:
  constexpr void Put(char c) { text_[size_++] = c; }
  std::array<char, 40> text_{};
  size_t size_ = 0;
};

class Reply {
 public:
  Reply(std::string& out, Form form) : out_(out), form_(form) {}

  // `text` is ours: it holds no line ends.
  void Simple(std::string_view text) { Line('+', text); }

  void Error(std::string_view code, std::string_view message) {
    out_.push_back('-');
    out_.append(code).push_back(' ');
    const size_t from = out_.size();
    out_.append(message);
    std::replace_if(out_.begin() + static_cast<std::ptrdiff_t>(from), out_.end(), IsControl, ' ');
    out_.append("\r\n");
  }
  void Error(Code code, std::string_view message) { Error(RespCode(code), message); }

  void Integer(int64_t number) { Count(':', number); }
  // Integers of the protocol have a sign: the largest stands for what does not fit.
  void Unsigned(uint64_t number) { Count(':', std::min(number, static_cast<uint64_t>(INT64_MAX))); }
  void UnsignedOrNull(uint64_t number) {
    if (number == UINT64_MAX) return Null();
    Unsigned(number);
  }
  void Bulk(std::string_view text) {
    Count('$', text.size());
    out_.append(text).append("\r\n");
  }
  void BulkOrNull(std::string_view text) {
    if (text.empty()) return Null();
    Bulk(text);
  }
  void Field(const Name& name) { out_.append(name.encoded()); }
  void Null() { out_.append(form_ == Form::kResp3 ? "_\r\n" : "$-1\r\n"); }
  void Bool(bool value) {
    if (form_ == Form::kResp3) {
      out_.append(value ? "#t\r\n" : "#f\r\n");
    } else {
      out_.append(value ? ":1\r\n" : ":0\r\n");
    }
  }
  void Array(size_t size) { Count('*', size); }
  // `size` names, each followed by its value.
  void Map(size_t size) {
    if (form_ == Form::kResp3) return Count('%', size);
    Count('*', 2 * size);
  }

 private:
  static bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }
  void Line(char kind, std::string_view text) {
    out_.push_back(kind);
    out_.append(text).append("\r\n");
  }
  template <typename Number>
  void Count(char kind, Number number) {
    out_.push_back(kind);
    AppendNumber(out_, number);
    out_.append("\r\n");
  }

  std::string& out_;
  const Form form_;
};

}  // namespace weir::resp

#include "fronts/http/query.h"

#include <algorithm>

namespace weir::http {
namespace {

int Digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

bool PercentDecode(std::string_view text, bool plus_is_blank, std::string& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      out.push_back(' ');
    } else if (text[i] != '%') {
      out.push_back(text[i]);
    } else {
      if (i + 2 >= text.size()) return false;
      const int high = Digit(text[i + 1]), low = Digit(text[i + 2]);
      if (high < 0 || low < 0) return false;
      out.push_back(static_cast<char>(high * 16 + low));
      i += 2;
    }
  }
  return true;
}

bool Query::Decode(std::string_view text, std::string_view& decoded) {
  if (text.find_first_of("%+") == std::string_view::npos) {
    decoded = text;
    return true;
  }
  const size_t from = decoded_.size();
  if (!PercentDecode(text, true, decoded_)) return false;
  decoded = std::string_view(decoded_).substr(from);
  return true;
}

bool Query::Parse(std::string_view text) {
  parameters_.clear();
  decoded_.clear();
  decoded_.reserve(text.size());
  while (!text.empty()) {
    const size_t end = std::min(text.find('&'), text.size());
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    Parameter& parameter = parameters_.emplace_back();
    if (!Decode(pair.substr(0, equals), parameter.name) ||
        !Decode(pair.substr(std::min(equals + 1, pair.size())), parameter.value)) {
      return false;
    }
  }
  return true;
}

}  // namespace weir::http

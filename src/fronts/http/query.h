// The parameters of a query: a=b&c=d, percent-encoded, with "+" for a blank.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::http {

struct Parameter {
  std::string_view name;
  std::string_view value;
};

// Appends what `text` means. False if a "%" has no two hexadecimal digits behind it.
bool PercentDecode(std::string_view text, bool plus_is_blank, std::string& out);

// Keeps what it decodes, and its memory from one query to the next.
class Query {
 public:
  // False if the text is not a query.
  bool Parse(std::string_view text);
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  bool Decode(std::string_view text, std::string_view& decoded);

  std::vector<Parameter> parameters_;
  std::string decoded_;  // reserved for all of a query: does not move while it grows
};

}  // namespace weir::http

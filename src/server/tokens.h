// Who may look at statistics and change the configuration: the lines of --token-file.
//
//   TOKEN ROLE NAMESPACE       ROLE: read or write; NAMESPACE: a name, or * for all
//
// Without such a file only this machine may (loopback). Empty lines and lines with # are skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/error.h"

namespace weir {

enum class Role { kRead, kWrite };

class Tokens {
 public:
  Tokens() = default;  // no file: loopback only
  static Result<Tokens> Load(const std::string& path);
  static Result<Tokens> Parse(std::string_view text, std::string_view file);

  bool required() const { return !tokens_.empty(); }
  // `authorization`: the header's value, "Bearer TOKEN", or empty. `ns` empty: about all of them.
  bool Allow(std::string_view authorization, bool from_loopback, Role role,
             std::string_view ns) const;
  bool Knows(std::string_view token) const;

 private:
  struct Token {
    std::string token;
    Role role;
    std::string ns;  // "*": all
  };
  std::vector<Token> tokens_;
};

}  // namespace weir

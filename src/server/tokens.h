// The lines of --token-file. What a token may do is said in access.h.
//
//   TOKEN ROLE NAMESPACE       NAMESPACE: a name, or * for all
//
//   read      sees statistics and the configuration       write     may change it, too
//   decide    asks for decisions, no more (*)             metrics   reads /metrics, no more (*)
//
// Empty lines and lines with # are skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/error.h"

namespace weir {

enum class Role { kRead, kWrite, kDecide, kMetrics };

class Tokens {
 public:
  Tokens() = default;  // there is no file
  // A file that others may write is refused: they could let themselves in.
  static Result<Tokens> Load(const std::string& path);
  static Result<Tokens> Parse(std::string_view text, std::string_view file);

  bool required() const { return !tokens_.empty(); }
  // kRead or kWrite, on a namespace; `ns` empty: on all of them.
  bool Allow(std::string_view token, Role role, std::string_view ns) const;
  // Whether the token has this very role, on whatever namespace.
  bool Has(std::string_view token, Role role) const;
  // All but those that are for metrics.
  bool MayDecide(std::string_view token) const;

 private:
  struct Token {
    std::string token;
    Role role;
    std::string ns;  // "*": all
  };
  // Looks at all of them, in a time that does not tell how much of which was right.
  template <typename Good>
  bool Any(std::string_view token, Good good) const;

  std::vector<Token> tokens_;
};

}  // namespace weir

// The lines of --token-file. What a token may do is said in access.h.
//
//   TOKEN ROLE NAMESPACE       NAMESPACE: a name, or * for all
//
//   read      asks for decisions, sees statistics and the configuration
//   write     may change it, too
//   decide    asks for decisions, no more
//   metrics   reads /metrics, no more (*)
//
// A token may have several lines.
// Empty lines and lines with # are skipped.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "weir/error.h"
#include "weir/reach.h"

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
  bool Knows(std::string_view token) const;
  // Where it may ask for decisions: all but `metrics` may, in their namespaces. Null: nowhere.
  const Reach* ReachOf(std::string_view token) const;

 private:
  struct Token {
    std::string token;
    Role role;
    std::string ns;  // "*": all
  };
  void Add(Token token);
  // Looks at all of them, in a time that does not tell how much of which was right.
  template <typename Good>
  bool Any(std::string_view token, Good good) const;

  std::vector<Token> tokens_;
  // Of each token once.
  struct Decider {
    std::string token;
    Reach reach;
  };
  std::vector<Decider> deciders_;
};

}  // namespace weir

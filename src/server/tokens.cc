#include "server/tokens.h"

#include <openssl/crypto.h>

#include <fstream>
#include <sstream>

namespace weir {
namespace {

// In a time that does not tell how much of it was right.
bool Same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

Result<Tokens> Tokens::Load(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{Code::kBadRequest, path + ": cannot be read", ""};
  std::stringstream text;
  text << file.rdbuf();
  return Parse(text.str(), path);
}

Result<Tokens> Tokens::Parse(std::string_view text, std::string_view file) {
  Tokens tokens;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    std::istringstream words(line);
    std::string token, role, ns, more;
    if (!(words >> token) || token[0] == '#') continue;
    words >> role >> ns >> more;
    if ((role != "read" && role != "write") || ns.empty() || !more.empty()) {
      return Error{Code::kBadRequest,
                   std::string(file) + ":" + std::to_string(number) +
                       ": a line is: TOKEN read|write NAMESPACE (or *)",
                   ""};
    }
    tokens.tokens_.push_back({token, role == "write" ? Role::kWrite : Role::kRead, ns});
  }
  if (tokens.tokens_.empty()) {
    return Error{Code::kBadRequest, std::string(file) + ": holds no token", ""};
  }
  return tokens;
}

bool Tokens::Allow(std::string_view authorization, bool from_loopback, Role role,
                   std::string_view ns) const {
  if (!required()) return from_loopback;
  constexpr std::string_view kScheme = "Bearer ";
  if (authorization.substr(0, kScheme.size()) != kScheme) return false;
  authorization.remove_prefix(kScheme.size());
  bool allowed = false;
  for (const Token& token : tokens_) {
    const bool enough = role == Role::kRead || token.role == Role::kWrite;
    const bool covers = token.ns == "*" || (!ns.empty() && token.ns == ns);
    allowed = (Same(token.token, authorization) && enough && covers) || allowed;
  }
  return allowed;
}

bool Tokens::Knows(std::string_view text) const {
  bool known = false;
  for (const Token& token : tokens_) known = Same(token.token, text) || known;
  return known;
}

}  // namespace weir

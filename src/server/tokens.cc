#include "server/tokens.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <sstream>

#include "base/file_descriptor.h"

namespace weir {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

bool Same(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::optional<Role> RoleOf(std::string_view name) {
  if (name == "read") return Role::kRead;
  if (name == "write") return Role::kWrite;
  if (name == "decide") return Role::kDecide;
  if (name == "metrics") return Role::kMetrics;
  return std::nullopt;
}

}  // namespace

Result<Tokens> Tokens::Load(const std::string& path) {
  const auto failed = [&](const std::string& why) {
    return Error{Code::kBadRequest, path + ": " + why, ""};
  };
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!file || fstat(file.get(), &info) != 0) return failed("cannot be read");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return failed("others than its owner may write it, and so let themselves in: chmod go-w");
  }
  std::string text(kMostBytes + 1, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t n = read(file.get(), text.data() + size, text.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(std::strerror(errno));
    if (n == 0) break;
    size += static_cast<size_t>(n);
  }
  if (size > kMostBytes) return failed("is longer than 1 MiB");
  text.resize(size);
  return Parse(text, path);
}

Result<Tokens> Tokens::Parse(std::string_view text, std::string_view file) {
  Tokens tokens;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const auto failed = [&](const char* why) {
      return Error{Code::kBadRequest, std::string(file) + ":" + std::to_string(number) + ": " + why,
                   ""};
    };
    std::istringstream words(line);
    std::string token, name, ns, more;
    if (!(words >> token) || token[0] == '#') continue;
    words >> name >> ns >> more;
    const std::optional<Role> role = RoleOf(name);
    if (!role || ns.empty() || !more.empty()) {
      return failed("a line is: TOKEN read|write|decide|metrics NAMESPACE (or *)");
    }
    if (role == Role::kMetrics && ns != "*") {
      return failed("metrics are of all namespaces: write * behind the role");
    }
    tokens.Add({token, *role, ns});
  }
  if (tokens.tokens_.empty()) {
    return Error{Code::kBadRequest, std::string(file) + ": holds no token", ""};
  }
  return tokens;
}

template <typename Good>
bool Tokens::Any(std::string_view token, Good good) const {
  bool any = false;
  for (const Token& one : tokens_) any = (Same(one.token, token) && good(one)) || any;
  return any;
}

bool Tokens::Allow(std::string_view token, Role role, std::string_view ns) const {
  return Any(token, [&](const Token& one) {
    const bool enough =
        one.role == Role::kWrite || (one.role == Role::kRead && role == Role::kRead);
    return enough && (one.ns == "*" || (!ns.empty() && one.ns == ns));
  });
}

bool Tokens::Has(std::string_view token, Role role) const {
  return Any(token, [&](const Token& one) { return one.role == role; });
}

bool Tokens::Knows(std::string_view token) const {
  return Any(token, [](const Token&) { return true; });
}

void Tokens::Add(Token token) {
  if (token.role != Role::kMetrics) {
    const auto is_it = [&](const Decider& one) { return one.token == token.token; };
    auto found = std::find_if(deciders_.begin(), deciders_.end(), is_it);
    if (found == deciders_.end()) found = deciders_.insert(found, {token.token, {}});
    if (token.ns == "*") {
      found->reach = kEverywhere;
    } else if (!found->reach.Has(token.ns)) {
      found->reach.namespaces.push_back(token.ns);
    }
  }
  tokens_.push_back(std::move(token));
}

const Reach* Tokens::ReachOf(std::string_view token) const {
  const Reach* reach = nullptr;
  for (const Decider& one : deciders_) {
    if (Same(one.token, token)) reach = &one.reach;
  }
  return reach;
}

}  // namespace weir

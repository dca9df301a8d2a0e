// The one place that says who may do what on a server, on every front (docs/serving.md has the table
// of AccessTable, and a test holds them together).
//
// Without --token-file only this machine may see and change things, and everybody may ask for
// decisions. With it, a token is needed for all but health and descriptions: for decisions and metrics
// only unless they are left open. A token is good in its namespaces; what is of none (limits that requests
// bring with them, the cluster) needs one for all. The file is read again on SIGHUP: what it no longer
// has ends at once, for whoever was let in with it as well (AccessPolicy::version).
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fronts/access.h"
#include "server/tokens.h"

namespace weir {

struct AccessOptions {
  std::string token_file;       // empty: there is none
  bool decisions_open = false;  // though there is a token file
  bool metrics_open = false;
};

class Access : public AccessPolicy {
 public:
  explicit Access(AccessOptions options) : options_(std::move(options)) {}

  // Reads the token file. On an error what was read before stays.
  std::optional<Error> Load();
  // For tests, and where there is no file.
  void Use(Tokens tokens);

  bool May(Operation what, std::string_view ns, const Asker& who) const override;
  bool MaySomewhere(Operation what, const Asker& who) const override;
  const Reach* ReachOf(std::string_view token) const override {
    return decisions_open() ? &kEverywhere : tokens().ReachOf(token);
  }
  Code WhyNot(const Asker& who) const override {
    return tokens().Knows(who.token) ? Code::kForbidden : Code::kUnauthenticated;
  }

  const std::atomic<uint64_t>& version() const override { return version_; }

  // Whether a connection that begins with this token is one to be trusted: it may ask for decisions
  // somewhere.
  bool Trusts(std::string_view token) const { return tokens().ReachOf(token) != nullptr; }
  // Whether there is a token file.
  bool has_tokens() const { return tokens().required(); }
  // Whether decisions need no token.
  bool decisions_open() const { return !has_tokens() || options_.decisions_open; }

 private:
  const Tokens& tokens() const { return *tokens_.load(std::memory_order_acquire); }

  const AccessOptions options_;
  std::mutex mutex_;
  // Those that were replaced may still be looked at, so they stay: a SIGHUP each.
  std::vector<std::unique_ptr<const Tokens>> all_;  // guarded by mutex_
  const Tokens none_;
  std::atomic<const Tokens*> tokens_{&none_};
  std::atomic<uint64_t> version_{0};
};

// A row of the table, in words.
struct AccessRow {
  Operation what;
  std::string_view name;        // of the operation, and where it is found
  std::string_view without;     // a token file: who may
  std::string_view with_token;  // file: which tokens may
};
std::span<const AccessRow> AccessTable();

}  // namespace weir

#include "server/access.h"

#include <array>

namespace weir {
namespace {

enum class Need {
  kNothing,
  kDecide,     // any token of the namespace but one of `metrics`
  kDecideAll,  // the same for all namespaces
  kMetrics,    // `metrics`, or one that may read all namespaces
  kRead,       // of the namespace
  kWrite,      // of the namespace
};

Need NeedOf(Operation what) {
  switch (what) {
    case Operation::kHealth:
    case Operation::kDescribe: return Need::kNothing;
    case Operation::kDecide:
    case Operation::kProxyDecide: return Need::kDecide;
    case Operation::kCarried: return Need::kDecideAll;
    case Operation::kMetrics: return Need::kMetrics;
    case Operation::kStatistics:
    case Operation::kCluster:
    case Operation::kReadConfig: return Need::kRead;
    case Operation::kWriteConfig: return Need::kWrite;
  }
  return Need::kWrite;
}

constexpr std::string_view kEverybody = "everybody", kThisMachine = "this machine",
                           kOfNamespace =
                               "`decide`, `read` or `write` of the namespace (Envoy's domain); "
                               "everybody with `--decisions-open`";

constexpr std::array<AccessRow, 10> kTable = {{
    {Operation::kHealth, "health: `/healthz`, `/healthcheck`, `/readyz`, gRPC health", kEverybody,
     kEverybody},
    {Operation::kDescribe, "descriptions: `/v1/openapi.json`, gRPC reflection", kEverybody,
     kEverybody},
    {Operation::kDecide,
     "decisions and holds: `/v1/request`, `/v1/peek`, `/v1/settle`, `/v1/session`, `/v1/reserve`, "
     "…, `/json`, `WEIR.…`, all calls of gRPC",
     kEverybody, kOfNamespace},
    {Operation::kProxyDecide, "decisions for proxies: `/v1/auth`", kEverybody, kOfNamespace},
    {Operation::kCarried, "limits that requests bring with them: `CL.THROTTLE`, PoolCounter",
     kEverybody,
     "`decide *`, `read *`, `write *`; PoolCounter's clients can show none: `--poolcounter` needs "
     "`--decisions-open`"},
    {Operation::kMetrics, "metrics: `/metrics`", kEverybody,
     "`metrics *`, `read *`, `write *`; everybody with `--metrics-open`"},
    {Operation::kStatistics, "statistics: `/v1/stats`", kThisMachine,
     "`read` or `write` of the namespace; without `namespace=`, of `*`"},
    {Operation::kCluster, "the cluster: `/v1/cluster`", kThisMachine, "`read *`, `write *`"},
    {Operation::kReadConfig, "reading the configuration: `GET /v1/config…`", kThisMachine,
     "`read` or `write` of the namespace; of a list, it shows what the token may read"},
    {Operation::kWriteConfig, "changing it: `PUT`, `PATCH`, `DELETE`, `POST /v1/config/rollback`",
     kThisMachine, "`write` of the namespace; what concerns all of them, of `*`"},
}};

}  // namespace

std::span<const AccessRow> AccessTable() { return kTable; }

std::optional<Error> Access::Load() {
  if (options_.token_file.empty()) return std::nullopt;
  Result<Tokens> read = Tokens::Load(options_.token_file);
  if (!read) return read.error();
  Use(std::move(*read));
  return std::nullopt;
}

void Access::Use(Tokens tokens) {
  const std::lock_guard lock(mutex_);
  all_.push_back(std::make_unique<const Tokens>(std::move(tokens)));
  tokens_.store(all_.back().get(), std::memory_order_release);
  version_.fetch_add(1, std::memory_order_release);
}

bool Access::May(Operation what, std::string_view ns, const Asker& who) const {
  const Tokens& tokens = this->tokens();
  switch (NeedOf(what)) {
    case Need::kNothing: return true;
    case Need::kDecide:
    case Need::kDecideAll: {
      const Reach* const reach = ReachOf(who.token);
      const bool everywhere = ns.empty() || NeedOf(what) == Need::kDecideAll;
      return reach != nullptr && (everywhere ? reach->all : reach->Has(ns));
    }
    case Need::kMetrics:
      return !tokens.required() || options_.metrics_open || tokens.Has(who.token, Role::kMetrics) ||
             tokens.Allow(who.token, Role::kRead, "");
    case Need::kRead:
      return tokens.required() ? tokens.Allow(who.token, Role::kRead, ns) : who.local;
    case Need::kWrite:
      return tokens.required() ? tokens.Allow(who.token, Role::kWrite, ns) : who.local;
  }
  return false;
}

bool Access::MaySomewhere(Operation what, const Asker& who) const {
  const Tokens& tokens = this->tokens();
  const Need need = NeedOf(what);
  if (need == Need::kDecide) return ReachOf(who.token) != nullptr;
  if (!tokens.required() || (need != Need::kRead && need != Need::kWrite)) {
    return May(what, "", who);
  }
  return tokens.Has(who.token, Role::kWrite) ||
         (need == Need::kRead && tokens.Has(who.token, Role::kRead));
}

}  // namespace weir

#include "server/routes/config_routes.h"

#include <openssl/sha.h>

#include <algorithm>
#include <charconv>

#include "fmt/format.h"
#include "fronts/http/gate.h"
#include "net/http_client.h"
#include "server/routes/late_answer.h"

namespace weir {
namespace {

constexpr uint64_t kLongestWaitMillis = 60'000;
constexpr uint64_t kMostAudit = 1000;

std::string Tag(uint64_t version) { return fmt::format("ETag: \"{}\"\r\n", version); }

std::optional<uint64_t> ReadNumber(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// 0 if it is not given; nothing, and an error, if it is no number.
std::optional<uint64_t> NumberParameter(const http::HttpRequest& request, std::string_view name,
                                        uint64_t usual, Error& error) {
  const auto text = request.FindParameter(name);
  if (!text) return usual;
  const std::optional<uint64_t> number = ReadNumber(*text);
  if (!number) {
    error = {Code::kBadRequest, "it must be a whole number from 0", std::string(name)};
  }
  return number;
}

// "7", "8": strong ones; what is none of ours matches nothing.
Guard ReadGuard(const http::HttpRequest& request) {
  Guard guard;
  guard.absent = request.FindHeader("if-none-match") == "*";
  const auto match = request.FindHeader("if-match");
  if (!match) return guard;
  if (*match == "*") {
    guard.exists = true;
    return guard;
  }
  guard.versions.emplace();
  std::string_view left = *match;
  while (!left.empty()) {
    const size_t end = std::min(left.find(','), left.size());
    std::string_view tag = left.substr(0, end);
    left.remove_prefix(std::min(end + 1, left.size()));
    while (tag.starts_with(' ')) tag.remove_prefix(1);
    while (tag.ends_with(' ')) tag.remove_suffix(1);
    if (tag.size() < 2 || tag.front() != '"' || tag.back() != '"') continue;
    if (const auto version = ReadNumber(tag.substr(1, tag.size() - 2))) {
      guard.versions->push_back(*version);
    }
  }
  return guard;
}

Result<ConfigPath> ReadPath(std::string_view rest) {
  std::vector<std::string> words;
  while (true) {
    const size_t end = std::min(rest.find('/'), rest.size());
    std::string word;
    if (!http::PercentDecode(rest.substr(0, end), false, word) || word.empty()) {
      return Error{Code::kBadRequest, "the path has a part that is empty or not percent-encoded",
                   "path"};
    }
    words.push_back(std::move(word));
    if (end == rest.size()) return ConfigPath::Parse(words);
    rest.remove_prefix(end + 1);
  }
}

// Who may do what, kept for the service's thread.
class Caller {
 public:
  explicit Caller(const http::HttpRequest& request)
      : policy_(request.policy),
        token_(request.who.token),
        local_(request.who.local),
        peer_(request.peer) {}

  bool May(Operation what, std::string_view ns) const {
    return policy_ == nullptr || policy_->May(what, ns, {token_, local_});
  }
  // Whoever has waited may show a token that is gone since.
  bool MaySomewhere(Operation what) const {
    return policy_ == nullptr || policy_->MaySomewhere(what, {token_, local_});
  }
  // Why not, of a namespace or of all.
  Answer Refused(std::string_view ns) const {
    return AccessAnswer(policy_, {token_, local_},
                        ns.empty() ? kNotAllNamespaces : kNotThisNamespace);
  }
  // For the history: an address, and which token without telling it (the first eight digits of its
  // SHA-256).
  std::string who() const {
    if (token_.empty()) return peer_;
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
    SHA256(reinterpret_cast<const unsigned char*>(token_.data()), token_.size(), digest.data());
    return fmt::format("{} token {:02x}{:02x}{:02x}{:02x}", peer_, digest[0], digest[1], digest[2],
                       digest[3]);
  }

 private:
  const AccessPolicy* const policy_;
  const std::string token_;
  const bool local_;
  const std::string peer_;
};

Answer WrittenAnswer(const Written& written) {
  Json normalised = Json::array();
  for (const Normalisation& one : written.normalised) {
    normalised.push_back(
        {{"path", one.path}, {"from", one.from}, {"to", one.to}, {"why", one.why}});
  }
  const Json body = {
      {"version", written.version}, {"value", written.value}, {"normalised", normalised}};
  return {written.created ? 201 : 200, PrintJson(body), Tag(written.version)};
}

// As they are stored: nothing is parsed.
std::string EntryText(const AuditEntry& entry) {
  const auto json = [](const std::string& text) { return text.empty() ? "null" : text; };
  return fmt::format(
      R"({{"version":{},"at_ms":{},"who":{},"namespace":{},"path":{},"before":{},"after":{}}})",
      entry.version, ToNanos(entry.at) / 1'000'000, PrintJson(entry.who),
      PrintJson(entry.namespace_name), PrintJson(entry.path), json(entry.before),
      json(entry.after));
}

// Where the next page is: the same question, from there on.
std::string NextPage(const AuditQuery& query, const AuditEntry& last) {
  return fmt::format("/v1/config/audit?namespace={}&before={}&after={}&limit={}",
                     QueryPart(query.namespace_name), last.version, QueryPart(last.namespace_name),
                     query.most);
}

Answer PageAnswer(const AuditQuery& query, const AuditPage& page, uint64_t version) {
  std::string body = fmt::format(R"({{"version":{},"entries":[)", version);
  for (const AuditEntry& entry : page.entries) {
    if (&entry != &page.entries.front()) body += ',';
    body += EntryText(entry);
  }
  body += R"(],"next":)";
  body += page.more ? PrintJson(NextPage(query, page.entries.back())) : "null";
  body += '}';
  return {200, std::move(body)};
}

// {"version": N}, or {"version": N, "namespace": NAME}.
struct RollbackBody {
  uint64_t version = 0;
  std::string ns;
};

std::optional<RollbackBody> ReadRollback(const Json& body) {
  const bool one = body.is_object() && body.contains("namespace");
  if (!body.is_object() || body.size() != (one ? 2u : 1u) || !body.contains("version") ||
      !body["version"].is_number_unsigned()) {
    return std::nullopt;
  }
  if (one && (!body["namespace"].is_string() || body["namespace"].get<std::string>().empty())) {
    return std::nullopt;
  }
  return RollbackBody{body["version"].get<uint64_t>(),
                      one ? body["namespace"].get<std::string>() : ""};
}

class ConfigRoutes {
 public:
  explicit ConfigRoutes(ConfigService& service) : service_(service) {}

  void Get(const http::HttpRequest& request, http::Responder responder) {
    const Result<ConfigPath> path = ReadPath(request.rest);
    const bool names = request.FindParameter("names").value_or("") == "true";
    if (!path) return LateAnswer::SendNow(ErrorAnswer(path.error()), responder);
    const auto caller = std::make_shared<Caller>(request);
    if (!path->all() && !caller->May(Operation::kReadConfig, path->namespace_name())) {
      return LateAnswer::SendNow(caller->Refused(path->namespace_name()), responder);
    }
    Submit(request, std::move(responder), [=, this, path = *path](ConfigStore& store, const Turn&) {
      service_.Freshen();  // while the database is away, what is in force
      const auto shows = [&](const std::string& ns) {
        return caller->May(Operation::kReadConfig, ns);
      };
      if (names) return Names(store, path, shows);
      Result<ConfigStore::Text> found = store.ReadText(path, shows);
      if (!found) return ErrorAnswer(found.error());
      return Answer{200, std::move(found->json), Tag(found->version)};
    });
  }

  void Write(const http::HttpRequest& request, http::Responder responder) {
    const Result<ConfigPath> path = ReadPath(request.rest);
    const Caller caller(request);
    if (!path) return LateAnswer::SendNow(ErrorAnswer(path.error()), responder);
    if (!caller.May(Operation::kWriteConfig, path->namespace_name())) {
      return LateAnswer::SendNow(caller.Refused(path->namespace_name()), responder);
    }
    if (!service_.read_only().empty()) return LateAnswer::SendNow(ReadOnly(), responder);
    const bool deletes = request.method == "DELETE", patches = request.method == "PATCH";
    // It is read where it is used: who waits for a decision does not wait for a large body.
    Submit(request, std::move(responder),
           [=, path = *path, text = std::string(request.body), who = caller.who(),
            guard = ReadGuard(request)](ConfigStore& store, const Turn& now) {
             const Writer writer{who, now, guard};
             const Result<Json> body = deletes ? Json() : ReadJsonTree(text);
             if (!body) return ErrorAnswer(body.error());
             const Result<Written> written = deletes   ? store.Delete(path, writer)
                                             : patches ? store.Patch(path, *body, writer)
                                                       : store.Put(path, *body, writer);
             if (!written) return ErrorAnswer(written.error());
             if (deletes) return Answer{204, "", Tag(written->version)};
             return WrittenAnswer(*written);
           });
  }

  void Since(const http::HttpRequest& request, http::Responder responder) {
    Error error;
    const auto since = NumberParameter(request, "since", 0, error);
    const auto wait = NumberParameter(request, "wait_ms", 0, error);
    const auto caller = std::make_shared<Caller>(request);
    if (!since || !wait) return LateAnswer::SendNow(ErrorAnswer(error), responder);
    const auto longest = std::chrono::milliseconds(std::min(*wait, kLongestWaitMillis));
    auto late = std::make_shared<LateAnswer>(request, std::move(responder));
    const auto answer = [late, caller, since = *since](ConfigStore& store) {
      const bool may = caller->MaySomewhere(Operation::kReadConfig);
      late->Send(may ? Changes(store, since, *caller) : caller->Refused(""));
    };
    const bool taken = service_.Submit([=, this](ConfigStore& store, const Turn& now) {
      service_.Freshen();
      // Nothing is new only to whoever knows what there is.
      if (*wait == 0 || *since != store.version()) {
        return ConfigService::Reply([=, &store] { answer(store); });
      }
      service_.Await(*since, now.at() + longest, answer);
      return ConfigService::Reply([] {});
    });
    if (!taken) late->Send(Overloaded());
  }

  void Audit(const http::HttpRequest& request, http::Responder responder) {
    Error error;
    const auto before = NumberParameter(request, "before", 0, error);
    const auto limit = NumberParameter(request, "limit", 100, error);
    AuditQuery query{.namespace_name = std::string(request.FindParameter("namespace").value_or("")),
                     .before = before.value_or(0),
                     .after = std::string(request.FindParameter("after").value_or("")),
                     .most = static_cast<size_t>(std::min(limit.value_or(0), kMostAudit))};
    const Caller caller(request);
    if (!caller.May(Operation::kReadConfig, query.namespace_name)) {
      return LateAnswer::SendNow(caller.Refused(query.namespace_name), responder);
    }
    if (!before || !limit) return LateAnswer::SendNow(ErrorAnswer(error), responder);
    if (query.most == 0) {
      error = {Code::kBadRequest, "it must be a whole number from 1", "limit"};
      return LateAnswer::SendNow(ErrorAnswer(error), responder);
    }
    Submit(request, std::move(responder), [query](ConfigStore& store, const Turn&) {
      const Result<AuditPage> page = store.Audit(query);
      return page ? PageAnswer(query, *page, store.version()) : ErrorAnswer(page.error());
    });
  }

  void Rollback(const http::HttpRequest& request, http::Responder responder) {
    const Caller caller(request);
    const Result<Json> body = ReadJsonTree(request.body);
    const auto wanted = body ? ReadRollback(*body) : std::nullopt;
    const std::string ns = wanted ? wanted->ns : "";
    if (!caller.May(Operation::kWriteConfig, ns)) {
      return LateAnswer::SendNow(caller.Refused(ns), responder);
    }
    if (!service_.read_only().empty()) return LateAnswer::SendNow(ReadOnly(), responder);
    if (!body) return LateAnswer::SendNow(ErrorAnswer(body.error()), responder);
    if (!wanted) {
      return LateAnswer::SendNow(
          ErrorAnswer({Code::kBadRequest,
                       "the body must be {\"version\": N} or {\"version\": N, \"namespace\": NAME}",
                       "version"}),
          responder);
    }
    Submit(request, std::move(responder),
           [wanted = *wanted, who = caller.who(), guard = ReadGuard(request)](ConfigStore& store,
                                                                              const Turn& now) {
             const Result<Written> written =
                 store.Rollback(wanted.version, wanted.ns, {who, now, guard});
             return written ? WrittenAnswer(*written) : ErrorAnswer(written.error());
           });
  }

 private:
  Answer ReadOnly() const { return ErrorAnswer({Code::kReadOnly, service_.read_only(), ""}); }
  static Answer Overloaded() {
    return ErrorAnswer({Code::kOverloaded, "too much waits for the configuration's database", ""});
  }
  static Answer Names(const ConfigStore& store, const ConfigPath& path,
                      const ConfigStore::Shows& shows) {
    const auto names = store.List(path);
    if (!names) return ErrorAnswer(names.error());
    Json list = Json::array();
    for (const std::string& name : *names) {
      if (!path.all() || shows(name)) list.push_back(name);
    }
    return {200, PrintJson(list), Tag(store.VersionOf(path))};
  }
  static Answer Changes(ConfigStore& store, uint64_t since, const Caller& caller) {
    const Result<ConfigChanges> changes = store.Since(
        since, [&](const std::string& ns) { return caller.May(Operation::kReadConfig, ns); });
    if (!changes) return ErrorAnswer(changes.error());
    std::string body =
        fmt::format(R"({{"version":{},"full":{},"changes":[)", changes->version, changes->full);
    for (const auto& [name, tree] : changes->trees) {
      if (body.back() != '[') body += ',';
      body += fmt::format(R"({{"namespace":{},"value":{}}})", PrintJson(name), tree);
    }
    return {200, body + "]}", Tag(changes->version)};
  }

  template <typename Do>
  void Submit(const http::HttpRequest& request, http::Responder responder, Do work) {
    auto late = std::make_shared<LateAnswer>(request, std::move(responder));
    const bool taken =
        service_.Submit([late, work = std::move(work)](ConfigStore& store, const Turn& now) {
          Answer answer = work(store, now);
          return ConfigService::Reply(
              [late, answer = std::move(answer)]() mutable { late->Send(std::move(answer)); });
        });
    if (!taken) late->Send(Overloaded());
  }

  ConfigService& service_;
};

}  // namespace

void AddConfigRoutes(http::RouteTable& routes, ConfigService& service) {
  const auto all = std::make_shared<ConfigRoutes>(service);
  const auto to = [&](void (ConfigRoutes::*handle)(const http::HttpRequest&, http::Responder)) {
    return [all, handle](const http::HttpRequest& request, http::Responder responder) {
      ((*all).*handle)(request, std::move(responder));
    };
  };
  constexpr Operation kReads = Operation::kReadConfig, kWrites = Operation::kWriteConfig;
  routes.AddPrefix("GET", "/v1/config/", kReads, to(&ConfigRoutes::Get));
  for (const char* method : {"PUT", "PATCH", "DELETE"}) {
    routes.AddPrefix(method, "/v1/config/", kWrites, to(&ConfigRoutes::Write));
  }
  routes.Add("GET", "/v1/config", kReads, to(&ConfigRoutes::Since));
  routes.Add("GET", "/v1/config/audit", kReads, to(&ConfigRoutes::Audit));
  routes.Add("POST", "/v1/config/rollback", kWrites, to(&ConfigRoutes::Rollback));
}

}  // namespace weir

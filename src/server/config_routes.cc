#include "server/config_routes.h"

#include <openssl/sha.h>

#include <algorithm>
#include <charconv>

#include "fmt/format.h"
#include "fronts/codes.h"
#include "fronts/http/json_out.h"
#include "fronts/way_back.h"

namespace weir {
namespace {

constexpr uint64_t kLongestWaitMillis = 60'000;
constexpr uint64_t kMostAudit = 1000;

struct Answer {
  int status = 200;
  std::string body = {};
  std::string headers = {};
};

// The right to answer, carried to the service's thread. Whatever happens to it, the responder itself
// is used and destroyed on its connection's thread only.
class LateAnswer {
 public:
  LateAnswer(const http::HttpRequest& request, http::Responder responder)
      : way_back_(request.way_back->shared_from_this()),
        responder_(std::make_shared<http::Responder>(std::move(responder))) {}
  LateAnswer(const LateAnswer&) = delete;
  LateAnswer& operator=(const LateAnswer&) = delete;
  ~LateAnswer() {
    if (responder_ != nullptr) Post([](http::Responder&) {});
  }

  void Send(Answer answer) {
    Post([answer = std::move(answer)](http::Responder& responder) {
      responder.Send({.status = answer.status,
                      .content_type = answer.body.empty() ? "" : http::kJson,
                      .body = answer.body,
                      .headers = answer.headers});
    });
  }

 private:
  template <typename Use>
  void Post(Use use) {
    const auto responder = std::move(responder_);
    responder_ = nullptr;
    way_back_->Post([responder, use = std::move(use)] { use(*responder); },
                    [responder] { responder->Abandon(); });
  }

  const std::shared_ptr<WayBack> way_back_;
  std::shared_ptr<http::Responder> responder_;
};

Answer ErrorAnswer(const Error& error) {
  Answer answer{.status = HttpStatus(error.code)};
  http::AppendError(answer.body, error);
  return answer;
}

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

// A page of somebody else that is open in this machine's browser is on this machine, too.
bool FromForeignPage(const http::HttpRequest& request) {
  const auto origin = request.FindHeader("origin");
  if (!origin) return false;
  const size_t scheme = origin->find("://");
  if (scheme == std::string_view::npos) return true;
  std::string_view host = origin->substr(scheme + 3);
  if (host.starts_with("[::1]")) return false;
  host = host.substr(0, host.find(':'));
  return host != "localhost" && host != "127.0.0.1";
}

// Who may do what, kept for the service's thread.
class Caller {
 public:
  Caller(const http::HttpRequest& request, const Tokens& tokens)
      : tokens_(tokens),
        authorization_(request.FindHeader("authorization").value_or("")),
        from_loopback_(request.from_loopback && !FromForeignPage(request)),
        peer_(request.peer) {}

  bool May(Role role, std::string_view ns) const {
    return tokens_.Allow(authorization_, from_loopback_, role, ns);
  }
  // Some namespace at least, or all.
  bool MayReadSome() const { return tokens_.required() ? tokens_.Knows(Token()) : from_loopback_; }
  // For the history: an address, and which token without telling it (the first eight digits of its
  // SHA-256).
  std::string who() const {
    if (!tokens_.required()) return peer_;
    const std::string_view token = Token();
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
    SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
    return fmt::format("{} token {:02x}{:02x}{:02x}{:02x}", peer_, digest[0], digest[1], digest[2],
                       digest[3]);
  }

 private:
  std::string_view Token() const {
    constexpr std::string_view kScheme = "Bearer ";
    const std::string_view all = authorization_;
    return all.starts_with(kScheme) ? all.substr(kScheme.size()) : std::string_view();
  }

  const Tokens& tokens_;
  const std::string authorization_;
  const bool from_loopback_;
  const std::string peer_;
};

Answer Unauthenticated() {
  return ErrorAnswer({Code::kUnauthenticated,
                      "a token that may do this is needed; without --token-file, only this machine "
                      "may",
                      ""});
}

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

class ConfigRoutes {
 public:
  ConfigRoutes(ConfigService& service, const Tokens& tokens) : service_(service), tokens_(tokens) {}

  void Get(const http::HttpRequest& request, http::Responder responder) {
    const Result<ConfigPath> path = ReadPath(request.rest);
    const bool names = request.FindParameter("names").value_or("") == "true";
    const auto caller = std::make_shared<Caller>(request, tokens_);
    if (!path) return Send(responder, Checked(*caller, path.error()));
    const bool may =
        path->all() ? caller->MayReadSome() : caller->May(Role::kRead, path->namespace_name());
    if (!may) return Send(responder, Unauthenticated());
    Submit(request, std::move(responder), [=, this, path = *path](ConfigStore& store, Instant) {
      service_.Freshen();  // while the database is away, what is in force
      Result<ConfigValue> found = store.Read(path);
      if (!found) return ErrorAnswer(found.error());
      if (path.all()) {
        std::erase_if(found->value.get_ref<Json::object_t&>(),
                      [&](const auto& one) { return !caller->May(Role::kRead, one.first); });
      }
      if (!names) return Answer{200, PrintJson(found->value), Tag(found->version)};
      Json list = Json::array();
      if (path.all()) {
        for (const auto& one : found->value.items()) list.push_back(one.key());
      } else {
        list = *store.List(path);
      }
      return Answer{200, PrintJson(list), Tag(found->version)};
    });
  }

  void Write(const http::HttpRequest& request, http::Responder responder) {
    const Result<ConfigPath> path = ReadPath(request.rest);
    const Caller caller(request, tokens_);
    if (!path) return Send(responder, Checked(caller, path.error()));
    if (!caller.May(Role::kWrite, path->namespace_name()))
      return Send(responder, Unauthenticated());
    if (!service_.read_only().empty()) return Send(responder, ReadOnly());
    const bool deletes = request.method == "DELETE", patches = request.method == "PATCH";
    Result<Json> body = deletes ? Json() : ReadJsonTree(request.body);
    if (!body) return Send(responder, ErrorAnswer(body.error()));
    const Writer writer{caller.who(), request.now, ReadGuard(request)};
    Submit(request, std::move(responder),
           [=, path = *path, body = std::move(*body)](ConfigStore& store, Instant) {
             const Result<Written> written = deletes   ? store.Delete(path, writer)
                                             : patches ? store.Patch(path, body, writer)
                                                       : store.Put(path, body, writer);
             if (!written) return ErrorAnswer(written.error());
             if (deletes) return Answer{204, "", Tag(written->version)};
             return WrittenAnswer(*written);
           });
  }

  void Since(const http::HttpRequest& request, http::Responder responder) {
    Error error;
    const auto since = NumberParameter(request, "since", 0, error);
    const auto wait = NumberParameter(request, "wait_ms", 0, error);
    const auto caller = std::make_shared<Caller>(request, tokens_);
    if (!caller->MayReadSome()) return Send(responder, Unauthenticated());
    if (!since || !wait) return Send(responder, ErrorAnswer(error));
    const Instant until =
        request.now + std::chrono::milliseconds(std::min(*wait, kLongestWaitMillis));
    auto late = std::make_shared<LateAnswer>(request, std::move(responder));
    const auto answer = [late, caller, since = *since](ConfigStore& store) {
      late->Send(Changes(store, since, *caller));
    };
    const bool taken = service_.Submit([=, this](ConfigStore& store, Instant) {
      service_.Freshen();
      // Nothing is new only to whoever knows what there is.
      if (*wait == 0 || *since != store.version()) {
        return ConfigService::Reply([=, &store] { answer(store); });
      }
      service_.Await(*since, until, answer);
      return ConfigService::Reply([] {});
    });
    if (!taken) late->Send(Overloaded());
  }

  void Audit(const http::HttpRequest& request, http::Responder responder) {
    Error error;
    const auto before = NumberParameter(request, "before", 0, error);
    const auto limit = NumberParameter(request, "limit", 100, error);
    const std::string ns(request.FindParameter("namespace").value_or(""));
    const Caller caller(request, tokens_);
    if (!caller.May(Role::kRead, ns)) return Send(responder, Unauthenticated());
    if (!before || !limit) return Send(responder, ErrorAnswer(error));
    Submit(request, std::move(responder), [=](ConfigStore& store, Instant) {
      const auto entries = store.Audit(ns, std::min(*before, uint64_t{INT64_MAX}),
                                       static_cast<size_t>(std::min(*limit, kMostAudit)));
      if (!entries) return ErrorAnswer(entries.error());
      Json list = Json::array();
      for (const AuditEntry& entry : *entries) {
        list.push_back({{"version", entry.version},
                        {"at_ms", ToNanos(entry.at) / 1'000'000},
                        {"who", entry.who},
                        {"namespace", entry.namespace_name},
                        {"path", entry.path},
                        {"before", entry.before},
                        {"after", entry.after}});
      }
      return Answer{200, PrintJson({{"version", store.version()}, {"entries", list}})};
    });
  }

  void Rollback(const http::HttpRequest& request, http::Responder responder) {
    const Caller caller(request, tokens_);
    if (!caller.May(Role::kWrite, "")) return Send(responder, Unauthenticated());
    if (!service_.read_only().empty()) return Send(responder, ReadOnly());
    const Result<Json> body = ReadJsonTree(request.body);
    if (!body) return Send(responder, ErrorAnswer(body.error()));
    if (!body->is_object() || body->size() != 1 || !body->contains("version") ||
        !(*body)["version"].is_number_unsigned()) {
      return Send(responder,
                  ErrorAnswer({Code::kBadRequest, "the body must be {\"version\": N}", "version"}));
    }
    const Writer writer{caller.who(), request.now, ReadGuard(request)};
    const uint64_t version = (*body)["version"].get<uint64_t>();
    Submit(request, std::move(responder), [=](ConfigStore& store, Instant) {
      const Result<Written> written = store.Rollback(version, writer);
      return written ? WrittenAnswer(*written) : ErrorAnswer(written.error());
    });
  }

 private:
  // A stranger is not told which paths there are.
  static Answer Checked(const Caller& caller, const Error& error) {
    return caller.MayReadSome() ? ErrorAnswer(error) : Unauthenticated();
  }
  Answer ReadOnly() const { return ErrorAnswer({Code::kReadOnly, service_.read_only(), ""}); }
  static Answer Overloaded() {
    return ErrorAnswer({Code::kOverloaded, "too much waits for the configuration's database", ""});
  }
  static Answer Changes(ConfigStore& store, uint64_t since, const Caller& caller) {
    const Result<ConfigChanges> changes = store.Since(since);
    if (!changes) return ErrorAnswer(changes.error());
    Json list = Json::array();
    for (const auto& [name, tree] : changes->trees) {
      if (caller.May(Role::kRead, name)) list.push_back({{"namespace", name}, {"value", tree}});
    }
    const Json body = {{"version", changes->version}, {"full", changes->full}, {"changes", list}};
    return {200, PrintJson(body), Tag(changes->version)};
  }

  static void Send(http::Responder& responder, const Answer& answer) {
    responder.Send({.status = answer.status,
                    .content_type = http::kJson,
                    .body = answer.body,
                    .headers = answer.headers});
  }

  template <typename Do>
  void Submit(const http::HttpRequest& request, http::Responder responder, Do work) {
    auto late = std::make_shared<LateAnswer>(request, std::move(responder));
    const bool taken =
        service_.Submit([late, work = std::move(work)](ConfigStore& store, Instant now) {
          return ConfigService::Reply(
              [late, answer = work(store, now)]() mutable { late->Send(std::move(answer)); });
        });
    if (!taken) late->Send(Overloaded());
  }

  ConfigService& service_;
  const Tokens& tokens_;
};

}  // namespace

void AddConfigRoutes(http::RouteTable& routes, ConfigService& service, const Tokens& tokens) {
  const auto all = std::make_shared<ConfigRoutes>(service, tokens);
  const auto to = [&](void (ConfigRoutes::*handle)(const http::HttpRequest&, http::Responder)) {
    return [all, handle](const http::HttpRequest& request, http::Responder responder) {
      ((*all).*handle)(request, std::move(responder));
    };
  };
  routes.AddPrefix("GET", "/v1/config/", to(&ConfigRoutes::Get));
  for (const char* method : {"PUT", "PATCH", "DELETE"}) {
    routes.AddPrefix(method, "/v1/config/", to(&ConfigRoutes::Write));
  }
  routes.Add("GET", "/v1/config", to(&ConfigRoutes::Since));
  routes.Add("GET", "/v1/config/audit", to(&ConfigRoutes::Audit));
  routes.Add("POST", "/v1/config/rollback", to(&ConfigRoutes::Rollback));
}

}  // namespace weir

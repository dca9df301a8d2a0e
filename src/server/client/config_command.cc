#include "server/client/config_command.h"

#include "config/config_store.h"
#include "server/client/http_client.h"
#include "weir/clock.h"

namespace weir {
namespace {

// Whether a server has a cluster or a Redis, it knows itself.
constexpr ParseOptions kAnyServer{.cluster = true, .divide = true, .redis = true};

constexpr char kAll[] = "/v1/config/namespaces";

// Whatever holds the configuration.
class Remote {
 public:
  Remote(const ClientOptions& options, const ConfigArguments& arguments)
      : options_(options), arguments_(arguments) {}

  // What is below `namespaces`.
  Result<Json> Read() {
    if (arguments_.database.empty()) {
      HttpClient client(options_.server, options_.token, options_.deadline);
      return Understood(client.Get(kAll));
    }
    const Result<std::unique_ptr<ConfigStore>> store = Open();
    if (!store) return store.error();
    return (*store)->Read(Everything())->value;
  }

  Result<Json> Write(const Json& namespaces) {
    if (arguments_.database.empty()) {
      HttpClient client(options_.server, options_.token, options_.deadline);
      return Understood(client.Put(kAll, PrintJson(namespaces)));
    }
    const Result<std::unique_ptr<ConfigStore>> store = Open();
    if (!store) return store.error();
    const Result<Written> written =
        (*store)->Put(Everything(), namespaces, {arguments_.who, SystemClock().Now()});
    if (!written) return written.error();
    return Json{{"version", written->version}};
  }

 private:
  static ConfigPath Everything() { return *ConfigPath::Parse({"namespaces"}); }

  Result<std::unique_ptr<ConfigStore>> Open() const {
    Result<std::unique_ptr<Database>> database = OpenDatabase(arguments_.database);
    if (!database) return database.error();
    auto store = std::make_unique<ConfigStore>(std::move(*database),
                                               ConfigStore::Options{.parse = kAnyServer});
    const Result<uint64_t> version = store->Refresh();
    if (!version) return version.error();
    return store;
  }

  Result<Json> Understood(const Result<HttpAnswer>& answer) const {
    if (!answer) return answer.error();
    Json body = Json::parse(answer->body, nullptr, false);
    if (answer->status == 200 && body.is_object()) return body;
    std::string message = "status " + std::to_string(answer->status) + " from " + options_.server;
    if (answer->status == 413) {
      message += ": it takes at most 1 MiB at once; write to its --database directly";
    } else if (body.is_object() && body.contains("error")) {
      message = body["error"].value("code", "error") + ": " + body["error"].value("message", "");
    }
    return Error{Code::kBadRequest, message, ""};
  }

  const ClientOptions& options_;
  const ConfigArguments& arguments_;
};

int Fail(const Error& error, std::ostream& errors) {
  errors << "error: " << error.message << (error.message.ends_with('\n') ? "" : "\n");
  return 2;
}

}  // namespace

int RunConfigExport(const ClientOptions& options, const ConfigArguments& arguments,
                    std::ostream& out, std::ostream& errors) {
  const Result<Json> namespaces = Remote(options, arguments).Read();
  if (!namespaces) return Fail(namespaces.error(), errors);
  const Json file = {{"namespaces", *namespaces}};
  if (arguments.format == "json") {
    out << file.dump(2) << "\n";
  } else {
    out << PrintYaml(file);
  }
  return 0;
}

int RunConfigImport(const ClientOptions& options, const ConfigArguments& arguments,
                    std::ostream& out, std::ostream& errors) {
  const Result<Json> namespaces = LoadNamespaces(arguments.file, kAnyServer);
  if (!namespaces) return Fail(namespaces.error(), errors);
  const Result<Json> written = Remote(options, arguments).Write(*namespaces);
  if (!written) return Fail(written.error(), errors);
  out << "version " << (*written)["version"] << "\n";
  for (const Json& one : written->value("normalised", Json::array())) {
    out << one.value("path", "") << ": " << one.value("from", "") << " became "
        << one.value("to", "") << ": " << one.value("why", "") << "\n";
  }
  return 0;
}

int RunConfigDiff(const ClientOptions& options, const ConfigArguments& arguments, std::ostream& out,
                  std::ostream& errors) {
  const Result<Json> wanted = LoadNamespaces(arguments.file, kAnyServer);
  if (!wanted) return Fail(wanted.error(), errors);
  const Result<Json> now = Remote(options, arguments).Read();
  if (!now) return Fail(now.error(), errors);
  // As it would be stored.
  Json file = {{"namespaces", *wanted}};
  const ParseResult parsed = ParseRulesText(PrintJson(file), arguments.file, kAnyServer);
  ApplyNormalisations(parsed.changes, file);
  const std::vector<std::string> lines = Differences({{"namespaces", *now}}, file);
  for (const std::string& line : lines) out << line << "\n";
  return lines.empty() ? 0 : 1;
}

}  // namespace weir

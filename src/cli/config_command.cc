#include "cli/config_command.h"

#include "config/config_store.h"
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
      const Result<std::unique_ptr<HttpClient>> client = OpenClient(options_);
      if (!client) return client.error();
      Result<Json> namespaces = Told((*client)->Get(kAll), {});
      if (namespaces) {
        if (const std::string mistake = MistakeIn(*namespaces); !mistake.empty()) {
          return NotWeir(options_, "what it says is no configuration: " + mistake);
        }
      }
      return namespaces;
    }
    const Result<std::unique_ptr<ConfigStore>> store = Open();
    if (!store) return store.error();
    return (*store)->Read(Everything())->value;
  }

  Result<Json> Write(const Json& namespaces) {
    if (arguments_.database.empty()) {
      const Result<std::unique_ptr<HttpClient>> client = OpenClient(options_);
      if (!client) return client.error();
      return Told((*client)->Put(kAll, PrintJson(namespaces)),
                  {{"version", &ServerJson::is_number_unsigned}});
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

  // The first, if this cannot be below `namespaces`.
  static std::string MistakeIn(const Json& namespaces) {
    const std::string text = PrintJson(Json{{"namespaces", namespaces}});
    const ParseResult parsed = ParseRulesText(text, "", kAnyServer);
    return parsed.ok() ? "" : parsed.errors.front().message;
  }

  Result<Json> Told(const Result<HttpAnswer>& answer,
                    std::initializer_list<AnswerField> fields) const {
    if (answer && answer->status == 413) {
      return Error{Code::kBadRequest,
                   "status 413 from " + options_.server +
                       ": it takes at most 1 MiB at once; write to its --database directly",
                   ""};
    }
    const Result<ServerJson> body = Understood(options_, answer, fields);
    if (!body) return body.error();
    return Json::parse(body->dump());
  }

  const ClientOptions& options_;
  const ConfigArguments& arguments_;
};

int Fail(const Error& error, Terminal& errors) {
  PrintError(errors, error);
  return kExitTrouble;
}

// Mistakes in a file: one a line.
int FailFile(const Error& error, Terminal& errors) {
  errors.Print("error: ");
  errors.Lines(error.message);
  if (!error.message.ends_with('\n')) errors.Print("\n");
  return kExitTrouble;
}

}  // namespace

int RunConfigExport(const ClientOptions& options, const ConfigArguments& arguments, Terminal& out,
                    Terminal& errors) {
  const Result<Json> namespaces = Remote(options, arguments).Read();
  if (!namespaces) return Fail(namespaces.error(), errors);
  const Json file = {{"namespaces", *namespaces}};
  if (arguments.format == "json") {
    out.Lines(file.dump(2));
    out.Print("\n");
  } else {
    out.Lines(PrintYaml(file));
  }
  return 0;
}

int RunConfigImport(const ClientOptions& options, const ConfigArguments& arguments, Terminal& out,
                    Terminal& errors) {
  const Result<Json> namespaces = LoadNamespaces(arguments.file, kAnyServer);
  if (!namespaces) return FailFile(namespaces.error(), errors);
  const Result<Json> written = Remote(options, arguments).Write(*namespaces);
  if (!written) return Fail(written.error(), errors);
  out.Print("version {}\n", written->value("version", Json()).dump());
  for (const Json& one : written->value("normalised", Json::array())) {
    out.Print("{}: {} became {}: {}\n", one.value("path", ""), one.value("from", ""),
              one.value("to", ""), one.value("why", ""));
  }
  return 0;
}

int RunConfigDiff(const ClientOptions& options, const ConfigArguments& arguments, Terminal& out,
                  Terminal& errors) {
  const Result<Json> wanted = LoadNamespaces(arguments.file, kAnyServer);
  if (!wanted) return FailFile(wanted.error(), errors);
  const Result<Json> now = Remote(options, arguments).Read();
  if (!now) return Fail(now.error(), errors);
  // As it would be stored.
  Json file = {{"namespaces", *wanted}};
  const ParseResult parsed = ParseRulesText(PrintJson(file), arguments.file, kAnyServer);
  ApplyNormalisations(parsed.changes, file);
  const std::vector<std::string> lines = Differences({{"namespaces", *now}}, file);
  for (const std::string& line : lines) out.Print("{}\n", line);
  return lines.empty() ? 0 : 1;
}

}  // namespace weir

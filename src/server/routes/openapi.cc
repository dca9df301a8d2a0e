#include "server/routes/openapi.h"

#include <array>
#include <string>

#include "server/routes/openapi_schemas.h"
#include "server/version.h"

namespace weir {
namespace openapi {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr const char* kJson = "application/json";
constexpr const char* kProblem = "application/problem+json";
constexpr const char* kText = "text/plain";
constexpr const char* kUnauthenticated = "A token is needed: none was shown, or none that is known";
constexpr const char* kForbidden = "The token is not for this, or a web page of another site asks";

OrderedJson Answer(std::string_view about, const char* type = nullptr, OrderedJson schema = {}) {
  OrderedJson answer = {{"description", about}};
  if (type != nullptr) answer["content"][type]["schema"] = std::move(schema);
  return answer;
}
OrderedJson Text(std::string_view about) { return Answer(about, kText, {{"type", "string"}}); }
OrderedJson Ref(std::string_view about, std::string_view schema, const char* type = kJson) {
  return Answer(about, type, SchemaRef(schema));
}

OrderedJson ResponseRef(std::string_view name) {
  return {{"$ref", "#/components/responses/" + std::string(name)}};
}
// The same answer in one more type.
OrderedJson Also(OrderedJson answer, const char* type, OrderedJson schema) {
  answer["content"][type]["schema"] = std::move(schema);
  return answer;
}

OrderedJson Parameter(const char* in, const char* name, OrderedJson schema,
                      std::string_view about = {}, bool required = false) {
  OrderedJson parameter = {{"name", name}, {"in", in}};
  if (!about.empty()) parameter["description"] = about;
  parameter["required"] = required;
  parameter["schema"] = std::move(schema);
  return parameter;
}
OrderedJson InQuery(const char* name, std::string_view about = {}, bool required = false) {
  return Parameter("query", name, {{"type", "string"}}, about, required);
}
OrderedJson NumberInQuery(const char* name, std::string_view about) {
  return Parameter("query", name, {{"type", "integer"}, {"minimum", 0}}, about);
}

// The parameters that a path has in braces. A list is filled, never written as {one}: compilers differ on
// whether that is a list of one value or the value itself.
OrderedJson ParametersOf(std::string_view path) {
  OrderedJson list = OrderedJson::array();
  for (size_t at = 0; (at = path.find('{', at)) != std::string_view::npos; ++at) {
    const std::string name(path.substr(at + 1, path.find('}', at) - at - 1));
    list.push_back(Parameter("path", name.c_str(), {{"type", "string"}}, "", true));
  }
  return list;
}

// An operation, said piece by piece.
class Operation {
 public:
  Operation(const char* id, const char* tag, std::string_view summary) {
    json_ = {{"operationId", id}, {"tags", {tag}}, {"summary", summary}};
  }
  Operation& Open() {  // asks for no token, ever
    json_["security"] = OrderedJson::array();
    return *this;
  }
  Operation& Takes(OrderedJson parameter) {
    json_["parameters"].push_back(std::move(parameter));
    return *this;
  }
  Operation& Body(OrderedJson schema, const char* type = kJson, bool required = true) {
    json_["requestBody"] = {{"required", required}, {"content", {{type, {{"schema", schema}}}}}};
    return *this;
  }
  Operation& BodyOf(std::string_view schema) { return Body(SchemaRef(schema)); }
  Operation& Answers(int status, OrderedJson answer) {
    answers_[std::to_string(status)] = std::move(answer);
    return *this;
  }
  // What may go wrong, in the one form of all errors.
  Operation& Errors() {
    answers_["4XX"] = Ref("Something is wrong with the question; never a refusal", "Error");
    answers_["5XX"] = Ref("The server cannot answer now", "Error");
    return *this;
  }
  OrderedJson Finish() {
    if (!json_.contains("security")) {
      MayAnswer(401, "Unauthenticated");
      MayAnswer(403, "Forbidden");
    }
    json_["responses"] = std::move(answers_);
    return std::move(json_);
  }

 private:
  // Unless the operation has its own word on it.
  void MayAnswer(int status, const char* response) {
    const std::string name = std::to_string(status);
    if (!answers_.contains(name)) answers_[name] = ResponseRef(response);
  }

  OrderedJson json_, answers_ = OrderedJson::object();
};

// What is answered to whoever may not (fronts/http/gate.h), the same everywhere.
OrderedJson SharedResponses() {
  OrderedJson responses = OrderedJson::object();
  responses["Unauthenticated"] = Ref(kUnauthenticated, "Error");
  responses["Unauthenticated"]["headers"]["WWW-Authenticate"]["schema"] = {{"type", "string"}};
  responses["Forbidden"] = Ref(kForbidden, "Error");
  return responses;
}

std::string Denied(std::string_view otherwise) {
  return "Refused, where `deny` says so: without a body. Else: " + std::string(otherwise);
}

void AddDecisions(OrderedJson& paths) {
  paths["/v1/request"]["post"] = Operation("decide", "Decisions", "Decide on a request")
                                     .BodyOf("RequestBody")
                                     .Answers(200, Ref("Allowed", "Decision"))
                                     .Answers(429, Ref("Refused", "Refusal", kProblem))
                                     .Errors()
                                     .Finish();
  paths["/v1/peek"]["post"] = Operation("peek", "Decisions", "The same answer, taking nothing")
                                  .BodyOf("RequestBody")
                                  .Answers(200, Ref("What would be decided", "Decision"))
                                  .Errors()
                                  .Finish();
  paths["/v1/settle"]["post"] =
      Operation("settle", "Decisions", "Tell the true cost of a request that was asked with settle")
          .BodyOf("SettleBody")
          .Answers(200, Ref("Settled", "Settled"))
          .Errors()
          .Finish();
  for (const char* method : {"get", "post"}) {
    paths["/v1/auth"][method] =
        Operation(*method == 'g' ? "auth" : "authByPost", "Decisions",
                  "A decision as a status alone, for proxies")
            .Takes(InQuery("namespace", "", true))
            .Takes(InQuery("resource", "", true))
            .Takes(InQuery("subject", "Or subject_from"))
            .Takes(InQuery("subject_from", "header:NAME or address"))
            .Takes(NumberInQuery("cost", "1 unless it is given"))
            .Takes(Parameter("query", "deny", {{"type", "integer"}, {"enum", {401, 403, 429}}},
                             "The status of a refusal"))
            .Answers(200, Answer("Allowed"))
            .Answers(401, Ref(Denied(kUnauthenticated), "Error"))
            .Answers(403, Ref(Denied(kForbidden), "Error"))
            .Answers(429, Answer("Refused"))
            .Errors()
            .Finish();
  }
  paths["/json"]["post"] =
      Operation("shouldRateLimit", "Decisions", "Envoy's rate-limit request as JSON")
          .BodyOf("EnvoyRateLimitRequest")
          .Answers(200, Ref("Allowed", "EnvoyRateLimitResponse"))
          .Answers(429, Ref("Refused", "EnvoyRateLimitResponse"))
          .Answers(400, Text("What is wrong with the question"))
          .Answers(403, Also(Ref(kForbidden, "Error"), kText, {{"type", "string"}}))
          .Answers(500, Text("What went wrong"))
          .Errors()
          .Finish();
}

void AddHold(OrderedJson& paths, const char* name, std::string_view summary, std::string_view body,
             std::string_view answer) {
  Operation operation(name, "Holds", summary);
  operation.BodyOf(body).Answers(200, Ref("Done", answer));
  if (std::string_view(name) == "reserve") {
    operation.Answers(429, Ref("Refused", "ReservationRefusal", kProblem));
  }
  paths[std::string("/v1/") + name]["post"] = operation.Errors().Finish();
}

void AddHolds(OrderedJson& paths) {
  paths["/v1/session"]["post"] =
      Operation("openSession", "Holds", "Open a session, to which holds are bound")
          .Body(SchemaRef("SessionBody"), kJson, false)
          .Answers(200, Ref("Opened", "Session"))
          .Errors()
          .Finish();
  constexpr std::string_view kSession = "/v1/session/{session}";
  OrderedJson& session = paths[std::string(kSession)];
  session["parameters"] = ParametersOf(kSession);
  session["post"] = Operation("renewSession", "Holds", "Renew a session")
                        .Answers(200, Ref("Renewed", "Session"))
                        .Errors()
                        .Finish();
  session["delete"] = Operation("endSession", "Holds", "End a session and release what it holds")
                          .Answers(200, Ref("Ended", "Session"))
                          .Errors()
                          .Finish();
  AddHold(paths, "reserve", "Hold copies of a resource", "ReserveBody", "Reservation");
  AddHold(paths, "release", "Give copies back", "ReleaseBody", "Released");
  AddHold(paths, "transfer", "Hand copies to whoever seizes them", "TransferBody", "Transferred");
  AddHold(paths, "seize", "Take what was handed over", "SeizeBody", "Seized");
}

// A part of the configuration, by its path.
struct Part {
  const char* path;  // below namespaces
  const char* id;    // "Limit": readLimit, putLimit, …
  const char* what;  // "a limit"
  const char* schema;
  enum { kOne, kList, kNamed } shape;
};

constexpr Part kParts[] = {
    {"", "Namespaces", "all namespaces", "Namespace", Part::kNamed},
    {"/{namespace}", "Namespace", "a namespace", "Namespace", Part::kOne},
    {"/{namespace}/resources", "Resources", "its resources", "Resource", Part::kNamed},
    {"/{namespace}/resources/{resource}", "Resource", "a resource", "Resource", Part::kOne},
    {"/{namespace}/resources/{resource}/limits", "Limits", "its limits", "Limit", Part::kList},
    {"/{namespace}/resources/{resource}/limits/{name}", "Limit", "a limit", "Limit", Part::kOne},
    {"/{namespace}/resources/{resource}/tiers", "Tiers", "its burst tiers", "Tiers", Part::kOne},
    {"/{namespace}/resources/{resource}/copies", "Copies", "its copies", "Copies", Part::kOne},
    {"/{namespace}/resources/{resource}/overrides", "Overrides", "its overrides", "Override",
     Part::kList},
    {"/{namespace}/resources/{resource}/overrides/{subject}", "Override",
     "the override of a subject", "Override", Part::kOne},
    {"/{namespace}/resources/{resource}/groups", "Groups", "the groups of its copies", "Group",
     Part::kList},
    {"/{namespace}/resources/{resource}/groups/{name}", "Group", "a group", "Group", Part::kOne},
    {"/{namespace}/contracts", "Contracts", "its contracts", "Contract", Part::kNamed},
    {"/{namespace}/contracts/{name}", "Contract", "a contract", "Contract", Part::kOne},
    {"/{namespace}/contracts/{name}/limits", "ContractLimits", "its limits", "Limit", Part::kList},
    {"/{namespace}/contracts/{name}/limits/{limit}", "ContractLimit", "a limit of it", "Limit",
     Part::kOne},
    {"/{namespace}/descriptors", "Descriptors", "its descriptors", "Descriptor", Part::kList},
};

OrderedJson SchemaOf(const Part& part) {
  OrderedJson one = SchemaRef(part.schema);
  switch (part.shape) {
    case Part::kOne: return one;
    case Part::kList: return {{"type", "array"}, {"items", one}};
    default: return {{"type", "object"}, {"additionalProperties", one}};
  }
}

Operation Write(const Part& part, const char* verb, std::string_view summary) {
  Operation operation((std::string(verb) + part.id).c_str(), "Configuration", summary);
  operation.Takes(Parameter("header", "If-Match", {{"type", "string"}}, "An ETag: else 412"));
  operation.Takes(Parameter("header", "If-None-Match", {{"type", "string"}},
                            "*: only if it does not exist yet, else 412"));
  return operation;
}

void AddPart(OrderedJson& paths, const Part& part) {
  const std::string what = part.what;
  OrderedJson& path = paths[std::string("/v1/config/namespaces") + part.path];
  if (const OrderedJson parameters = ParametersOf(part.path); !parameters.empty()) {
    path["parameters"] = parameters;
  }
  Operation read((std::string("read") + part.id).c_str(), "Configuration", "Read " + what);
  OrderedJson value = SchemaOf(part);
  if (part.shape != Part::kOne) {
    read.Takes(Parameter("query", "names", {{"type", "boolean"}}, "Only the names"));
    value = {{"anyOf", {value, {{"type", "array"}, {"items", {{"type", "string"}}}}}}};
  }
  path["get"] = read.Answers(200, Answer("As it is stored", kJson, value)).Errors().Finish();
  path["put"] = Write(part, "put", "Create or replace " + what)
                    .Body(SchemaOf(part))
                    .Answers(200, Ref("Replaced", "Written"))
                    .Answers(201, Ref("Created", "Written"))
                    .Errors()
                    .Finish();
  if (*part.path == '\0') return;  // all namespaces at once are only replaced
  path["patch"] = Write(part, "patch", "Change " + what + " by a JSON merge patch")
                      .Body(OrderedJson::object(), "application/merge-patch+json")
                      .Answers(200, Ref("Changed", "Written"))
                      .Errors()
                      .Finish();
  path["delete"] =
      Write(part, "delete", "Delete " + what).Answers(204, Answer("Deleted")).Errors().Finish();
}

void AddConfiguration(OrderedJson& paths) {
  paths["/v1/config"]["get"] =
      Operation("readChanges", "Configuration",
                "What has changed since a version: all, if it is 0, too old or unknown")
          .Takes(NumberInQuery("since", "A version"))
          .Takes(NumberInQuery("wait_ms", "Wait so long for a change, at most 60000"))
          .Answers(200, Ref("Changes", "Changes"))
          .Errors()
          .Finish();
  paths["/v1/config/audit"]["get"] =
      Operation("readAudit", "Configuration", "Who changed what, the latest first")
          .Takes(InQuery("namespace"))
          .Takes(NumberInQuery("before", "A version"))
          .Takes(InQuery("after", "A namespace: `next` of the page before has it"))
          .Takes(Parameter("query", "limit", {{"type", "integer"}, {"minimum", 1}},
                           "How many; 100 unless it is given, 1,000 at most"))
          .Answers(200, Ref("Changes", "Audit"))
          .Errors()
          .Finish();
  const OrderedJson version = {{"type", "object"},
                               {"required", {"version"}},
                               {"properties",
                                {{"version", {{"type", "integer"}, {"minimum", 0}}},
                                 {"namespace",
                                  {{"type", "string"},
                                   {"minLength", 1},
                                   {"description", "Only this one; all, unless given"}}}}},
                               {"additionalProperties", false}};
  paths["/v1/config/rollback"]["post"] =
      Operation("rollback", "Configuration", "Everything as it was at a version, as a new version")
          .Body(version)
          .Answers(200, Ref("Done", "Written"))
          .Errors()
          .Finish();
  for (const Part& part : kParts) AddPart(paths, part);
}

void AddWatching(OrderedJson& paths) {
  const OrderedJson any = {
      {"anyOf", {SchemaRef("Totals"), SchemaRef("ResourceStats"), SchemaRef("SubjectStats")}}};
  paths["/v1/stats"]["get"] =
      Operation("readStatistics", "Watching",
                "The last minute and day; who is refused, why, until when")
          .Takes(InQuery("namespace"))
          .Takes(InQuery("resource"))
          .Takes(InQuery("subject"))
          .Answers(200, Answer("Of all resources, of one, or of a subject", kJson, any))
          .Errors()
          .Finish();
  paths["/v1/cluster"]["get"] =
      Operation("readCluster", "Watching", "The other nodes of the cluster as this one sees them")
          .Answers(200, Ref("Nodes", "Cluster"))
          .Errors()
          .Finish();
  paths["/metrics"]["get"] = Operation("readMetrics", "Watching", "For Prometheus")
                                 .Answers(200, Text("Prometheus' text format"))
                                 .Errors()
                                 .Finish();
  paths["/healthz"]["get"] = Operation("isAlive", "Watching", "The process lives")
                                 .Open()
                                 .Takes(InQuery("verbose", "With the body of /readyz"))
                                 .Answers(200, Also(Text("It does"), kJson, SchemaRef("Readiness")))
                                 .Errors()
                                 .Finish();
  paths["/healthcheck"]["get"] =
      Operation("healthcheck", "Watching", "As envoyproxy/ratelimit has it")
          .Open()
          .Answers(200, Text("OK"))
          .Errors()
          .Finish();
  paths["/readyz"]["get"] = Operation("isReady", "Watching", "It can be asked for decisions")
                                .Open()
                                .Answers(200, Ref("Ready", "Readiness"))
                                .Answers(503, Ref("Not ready", "Readiness"))
                                .Errors()
                                .Finish();
  paths["/v1/openapi.json"]["get"] =
      Operation("readDescription", "Watching", "This description")
          .Open()
          .Answers(200, Answer("OpenAPI 3.1", kJson, {{"type", "object"}}))
          .Errors()
          .Finish();
}

std::string Describe() {
  OrderedJson api = {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Weir"},
        {"version", Version()},
        {"description", "Decides who may do what how often."},
        {"license", {{"name", "Apache-2.0"}, {"identifier", "Apache-2.0"}}}}},
      {"servers", {{{"url", "/"}, {"description", "The server that this is read from"}}}},
      // Without --token-file none is asked for.
      {"security", {{{"token", OrderedJson::array()}}, OrderedJson::object()}},
      {"tags",
       {{{"name", "Decisions"}, {"description", "Who may do what"}},
        {{"name", "Holds"}, {"description", "Copies that are held and given back"}},
        {{"name", "Configuration"}, {"description", "The rules, and their history"}},
        {{"name", "Watching"}, {"description", "Health, statistics, metrics"}}}},
      {"paths", OrderedJson::object()}};
  AddDecisions(api["paths"]);
  AddHolds(api["paths"]);
  AddConfiguration(api["paths"]);
  AddWatching(api["paths"]);
  api["components"] = {{"securitySchemes",
                        {{"token",
                          {{"type", "http"},
                           {"scheme", "bearer"},
                           {"description",
                            "A line of --token-file. Without that file no token is "
                            "asked for, and what needs one is for this machine "
                            "alone"}}}}},
                       {"responses", SharedResponses()},
                       {"schemas", ApiSchemas()}};
  return api.dump(1) + "\n";
}

}  // namespace
}  // namespace openapi

std::string_view OpenApi() {
  static const std::string text = openapi::Describe();
  return text;
}

}  // namespace weir

#include "cli/client_options.h"

#include "base/time_text.h"

namespace weir {
namespace {

std::string TextIn(const ServerJson& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

Result<std::unique_ptr<HttpClient>> OpenClient(const ClientOptions& options) {
  Result<ServerUrl> url = ServerUrl::Parse(options.server, UrlKind::kHttp, options.tls.any());
  if (!url) return Error{Code::kBadRequest, "--server: " + url.error().message, ""};
  return std::make_unique<HttpClient>(HttpClientOptions{.url = std::move(*url),
                                                        .token = options.token,
                                                        .deadline = options.deadline,
                                                        .tls = options.tls});
}

Error NotWeir(const ClientOptions& options, std::string_view why) {
  return {Code::kUnavailable,
          fmt::format("{} answers, but is not a Weir server: {}", options.server, why), ""};
}

Result<ServerJson> Understood(const ClientOptions& options, const Result<HttpAnswer>& answer,
                              std::initializer_list<AnswerField> fields) {
  if (!answer) return answer.error();
  ServerJson body = ServerJson::parse(answer->body, nullptr, false);
  const bool told = body.is_object() && body.contains("error") && body["error"].is_object();
  if (told) {
    const ServerJson& error = body["error"];
    const std::string code = TextIn(error, "code");
    return Error{Code::kBadRequest,
                 (code.empty() ? "error" : code) + ": " + TextIn(error, "message"),
                 TextIn(error, "field")};
  }
  // A refusal is an answer too.
  const bool good = answer->status == 200 || answer->status == 429;
  if (!good) {
    return Error{
        Code::kUnavailable,
        fmt::format("status {} from {}, and not in Weir's words: no Weir server answers there",
                    answer->status, options.server),
        ""};
  }
  if (!body.is_object()) return NotWeir(options, "what it says is no JSON object");
  for (const AnswerField& field : fields) {
    const auto found = body.find(field.name);
    if (found == body.end()) {
      return NotWeir(options, fmt::format("what it says has no '{}'", field.name));
    }
    if (!((*found).*field.is)()) {
      return NotWeir(options, fmt::format("its '{}' is of another kind", field.name));
    }
  }
  return body;
}

void PrintError(Terminal& errors, const Error& error) {
  errors.Print("error: {}", error.message);
  if (!error.field.empty()) errors.Print(" (field: {})", error.field);
  errors.Print("\n");
}

void PrintAnswer(Terminal& out, const ServerJson& answer) {
  out.Lines(answer.dump(-1, ' ', false, ServerJson::error_handler_t::replace));
  out.Print("\n");
}

std::string TextOf(const ServerJson& value) {
  if (value.is_null()) return "unlimited";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string MillisText(const ServerJson& value) {
  if (!value.is_number()) return "-";
  const double ms = value.get<double>();
  if (ms < 0) return "never";
  if (ms > 9e12) return SpokenDuration(Duration(9'000'000'000'000'000'000));
  return SpokenDuration(Duration(static_cast<int64_t>(ms * 1e6)));
}

}  // namespace weir

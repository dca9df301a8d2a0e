#include "cli/client_commands.h"

#include "base/time_text.h"

namespace weir {
namespace {

ServerJson Field(const ServerJson& object, const char* name) {
  return object.value(name, ServerJson());
}

// "5 per 1s"; what remains may be more, for a limit may allow bursts.
std::string Most(const ServerJson& limit) {
  const ServerJson per = Field(limit, "per_ms");
  const std::string most = TextOf(Field(limit, "limit"));
  if (!per.is_number() || per == 0) return most;
  return most + " per " + MillisText(per);
}

void PrintDecision(const ServerJson& answer, Terminal& out) {
  const bool allowed = answer.value("allowed", false);
  out.Paint(allowed ? Ink::kGreen : Ink::kRed, "{}", allowed ? "allowed" : "refused");
  if (allowed) {
    out.Print("  granted {}  remaining {}", TextOf(Field(answer, "granted")),
              TextOf(Field(answer, "remaining")));
  } else {
    out.Print("  by {}  retry after {}", TextOf(Field(answer, "limit")),
              MillisText(Field(answer, "retry_after_ms")));
  }
  if (answer.contains("ticket")) out.Print("  ticket {}", TextOf(answer["ticket"]));
  out.Print("\n");
  for (const ServerJson& limit : answer.value("limits", ServerJson::array())) {
    out.Print("  {} {} remaining {:<9} resets in {}", Fitted(TextOf(Field(limit, "name")), 20),
              Fitted(Most(limit), 20), TextOf(Field(limit, "remaining")),
              MillisText(Field(limit, "reset_after_ms")));
    if (limit.value("shadow", false)) {
      out.Print("{}", limit.value("would_refuse", false) ? "  shadow: would refuse" : "  shadow");
    }
    out.Print("\n");
  }
}

// Prints what went wrong and answers nothing, or the answer.
std::optional<ServerJson> Ask(const ClientOptions& options, std::string_view path,
                              const ServerJson& body, std::initializer_list<AnswerField> fields,
                              Terminal& out, Terminal& errors) {
  const Result<std::unique_ptr<HttpClient>> client = OpenClient(options);
  if (!client) return PrintError(errors, client.error()), std::nullopt;
  Result<ServerJson> answer = Understood(
      options,
      (*client)->Post(path, body.dump(-1, ' ', false, ServerJson::error_handler_t::replace)),
      fields);
  if (!answer) return PrintError(errors, answer.error()), std::nullopt;
  if (options.json) PrintAnswer(out, *answer);
  return std::move(*answer);
}

}  // namespace

int RunRequest(const ClientOptions& options, const RequestArguments& arguments, Terminal& out,
               Terminal& errors) {
  ServerJson body = {{"namespace", arguments.namespace_name},
                     {"resource", arguments.resource},
                     {"subject", arguments.subject},
                     {"cost", arguments.cost}};
  if (arguments.min_cost) body["min_cost"] = *arguments.min_cost;
  if (arguments.settle) body["settle"] = true;
  const auto answer = Ask(options, arguments.peek ? "/v1/peek" : "/v1/request", body,
                          {{"allowed", &ServerJson::is_boolean},
                           {"granted", &ServerJson::is_number},
                           {"limits", &ServerJson::is_array}},
                          out, errors);
  if (!answer) return kExitTrouble;
  if (!options.json) PrintDecision(*answer, out);
  return answer->value("allowed", false) ? 0 : 1;
}

int RunSettle(const ClientOptions& options, const SettleArguments& arguments, Terminal& out,
              Terminal& errors) {
  const ServerJson body = {{"ticket", arguments.ticket}, {"cost", arguments.cost}};
  const auto answer =
      Ask(options, "/v1/settle", body, {{"charged", &ServerJson::is_number}}, out, errors);
  if (!answer) return kExitTrouble;
  if (!options.json) {
    out.Print("charged {}  remaining {}\n", TextOf(Field(*answer, "charged")),
              TextOf(Field(*answer, "remaining")));
  }
  return 0;
}

}  // namespace weir

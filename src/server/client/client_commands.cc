#include "server/client/client_commands.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "server/client/http_client.h"
#include "server/time_text.h"

namespace weir {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string Millis(const OrderedJson& value) {
  const int64_t ms = value.is_number_integer() ? value.get<int64_t>() : 0;
  if (ms < 0) return "never";
  return ms >= 10'000 ? fmt::format("{:.1f} s", static_cast<double>(ms) / 1000)
                      : fmt::format("{} ms", ms);
}

std::string Text(const OrderedJson& value) {
  if (value.is_null()) return "unlimited";
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// "5 per 1s"; what remains may be more, for a limit may allow bursts.
std::string Most(const OrderedJson& limit) {
  const int64_t per_ms = limit.value("per_ms", int64_t{0});
  if (per_ms == 0) return Text(limit["limit"]);
  return Text(limit["limit"]) + " per " + DurationText(std::chrono::milliseconds(per_ms));
}

void PrintDecision(const OrderedJson& answer, bool colours, std::ostream& out) {
  const bool allowed = answer.value("allowed", false);
  const char* colour = !colours ? "" : allowed ? "\x1b[32m" : "\x1b[31m";
  out << colour << (allowed ? "allowed" : "refused") << (colours ? "\x1b[0m" : "");
  if (allowed) {
    out << fmt::format("  granted {}  remaining {}", Text(answer["granted"]),
                       Text(answer["remaining"]));
  } else {
    out << fmt::format("  by {}  retry after {}", Text(answer["limit"]),
                       Millis(answer["retry_after_ms"]));
  }
  if (answer.contains("ticket")) out << "  ticket " << Text(answer["ticket"]);
  out << "\n";
  for (const OrderedJson& limit : answer.value("limits", OrderedJson::array())) {
    out << fmt::format("  {:<20} {:<20} remaining {:<9} resets in {}\n", Text(limit["name"]),
                       Most(limit), Text(limit["remaining"]), Millis(limit["reset_after_ms"]));
  }
}

// The body as JSON; prints what went wrong and answers nothing otherwise.
std::optional<OrderedJson> Ask(const ClientOptions& options, std::string_view path,
                               const OrderedJson& body, std::ostream& out, std::ostream& errors) {
  HttpClient client(options.server, options.token, options.deadline);
  const Result<HttpAnswer> answer = client.Post(path, body.dump());
  if (!answer) {
    errors << "error: " << answer.error().message << "\n";
    return std::nullopt;
  }
  OrderedJson json = OrderedJson::parse(answer->body, nullptr, false);
  if (json.is_discarded() || json.contains("error")) {
    const OrderedJson& error = json.is_object() ? json["error"] : json;
    errors << "error: "
           << (error.is_object() ? Text(error["code"]) + ": " + Text(error["message"])
                                 : fmt::format("status {} from {}", answer->status, options.server))
           << "\n";
    return std::nullopt;
  }
  if (options.json) out << answer->body << "\n";
  return json;
}

}  // namespace

int RunRequest(const ClientOptions& options, const RequestArguments& arguments, std::ostream& out,
               std::ostream& errors) {
  OrderedJson body = {{"namespace", arguments.namespace_name},
                      {"resource", arguments.resource},
                      {"subject", arguments.subject},
                      {"cost", arguments.cost}};
  if (arguments.min_cost) body["min_cost"] = *arguments.min_cost;
  if (arguments.settle) body["settle"] = true;
  const auto answer = Ask(options, arguments.peek ? "/v1/peek" : "/v1/request", body, out, errors);
  if (!answer) return 2;
  if (!options.json) PrintDecision(*answer, options.colours, out);
  return answer->value("allowed", false) ? 0 : 1;
}

int RunSettle(const ClientOptions& options, const SettleArguments& arguments, std::ostream& out,
              std::ostream& errors) {
  const OrderedJson body = {{"ticket", arguments.ticket}, {"cost", arguments.cost}};
  const auto answer = Ask(options, "/v1/settle", body, out, errors);
  if (!answer) return 2;
  if (!options.json) {
    out << fmt::format("charged {}  remaining {}\n", Text((*answer)["charged"]),
                       Text((*answer)["remaining"]));
  }
  return 0;
}

}  // namespace weir

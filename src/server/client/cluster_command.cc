#include "server/client/cluster_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "server/client/http_client.h"

namespace weir {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string Time(const OrderedJson& millis) {
  if (!millis.is_number()) return "-";
  const double ms = millis.get<double>();
  return ms < 1000 ? fmt::format("{:.1f} ms", ms) : fmt::format("{:.1f} s", ms / 1000);
}

std::string Bytes(uint64_t bytes) {
  if (bytes < 10'000) return fmt::format("{} B", bytes);
  const double kib = static_cast<double>(bytes) / 1024;
  return kib < 10'000 ? fmt::format("{:.0f} KiB", kib) : fmt::format("{:.0f} MiB", kib / 1024);
}

constexpr char kRow[] = "{:<16.64} {:<21} {:<5} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9} {:>8}";

std::string Row(const OrderedJson& peer) {
  const auto number = [&](const char* name) { return peer[name].get<uint64_t>(); };
  return fmt::format(kRow, peer["node"].get<std::string>(), peer["address"].get<std::string>(),
                     peer["alive"].get<bool>() ? "yes" : "no", Time(peer["last_heard_ms"]),
                     Time(peer["staleness_ms"]), Time(peer["round_trip_ms"]),
                     Bytes(number("bytes_in")), Bytes(number("bytes_out")), number("datagrams_in"),
                     number("datagrams_out"), number("rejected"));
}

std::string Rejections(const OrderedJson& rejected) {
  std::string text;
  for (const auto& [reason, count] : rejected.items()) {
    if (count.get<uint64_t>() == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count.get<uint64_t>(), reason);
  }
  return text.empty() ? "none" : text;
}

// Whether all live.
bool Print(const OrderedJson& answer, bool colours, std::ostream& out) {
  out << fmt::format(
      "{} at {}, incarnation {}, {}; rejected datagrams: {}\n", answer["node"].get<std::string>(),
      answer["address"].get<std::string>(), answer["incarnation"].get<uint64_t>(),
      answer["ready"].get<bool>() ? "ready" : "joining", Rejections(answer["rejected"]));
  out << (colours ? "\x1b[1m" : "")
      << fmt::format(kRow, "node", "address", "alive", "last heard", "staleness", "round trip",
                     "bytes in", "bytes out", "grams in", "grams out", "rejected")
      << (colours ? "\x1b[0m" : "") << "\n";
  bool all = true;
  for (const OrderedJson& peer : answer["peers"]) {
    const bool alive = peer["alive"].get<bool>();
    out << (colours && !alive ? "\x1b[31m" : "") << Row(peer) << (colours ? "\x1b[0m" : "") << "\n";
    all = all && alive;
  }
  return all;
}

}  // namespace

int RunClusterStatus(const ClientOptions& options, std::ostream& out, std::ostream& errors) {
  HttpClient client(options.server, options.token, options.deadline);
  const Result<HttpAnswer> answer = client.Get("/v1/cluster");
  if (!answer) {
    errors << "error: " << answer.error().message << "\n";
    return 2;
  }
  const OrderedJson json = OrderedJson::parse(answer->body, nullptr, false);
  if (answer->status != 200 || !json.is_object() || !json.contains("peers")) {
    const bool told = json.is_object() && json.contains("error");
    errors << "error: "
           << (told ? json["error"].value("message", "")
                    : fmt::format("status {} from {}", answer->status, options.server))
           << "\n";
    return 2;
  }
  if (options.json) out << answer->body << "\n";
  std::ostream nowhere(nullptr);
  return Print(json, options.colours, options.json ? nowhere : out) ? 0 : 1;
}

}  // namespace weir

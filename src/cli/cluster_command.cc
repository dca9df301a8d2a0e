#include "cli/cluster_command.h"

#include <algorithm>

namespace weir {
namespace {

std::string Bytes(uint64_t bytes) {
  if (bytes < 10'000) return PlainFormat("{} B", bytes);
  const double kib = static_cast<double>(bytes) / 1024;
  return kib < 10'000 ? PlainFormat("{:.0f} KiB", kib) : PlainFormat("{:.0f} MiB", kib / 1024);
}

constexpr char kRow[] = "{} {} {:<5} {:>10} {:>10} {:>10} {:>9} {:>9} {:>9} {:>9} {:>8}";

std::string Row(const ServerJson& peer) {
  const auto number = [&](const char* name) { return peer.at(name).get<uint64_t>(); };
  return PlainFormat(kRow, Fitted(peer.at("node").get<std::string>(), 16),
                     Fitted(peer.at("address").get<std::string>(), 21),
                     peer.at("alive").get<bool>() ? "yes" : "no",
                     MillisText(peer.at("last_heard_ms")), MillisText(peer.at("staleness_ms")),
                     MillisText(peer.at("round_trip_ms")), Bytes(number("bytes_in")),
                     Bytes(number("bytes_out")), number("datagrams_in"), number("datagrams_out"),
                     number("rejected"));
}

std::string Rejections(const ServerJson& rejected) {
  std::string text;
  for (const auto& [reason, count] : rejected.items()) {
    if (count.get<uint64_t>() == 0) continue;
    text += PlainFormat("{}{} {}", text.empty() ? "" : ", ", count.get<uint64_t>(), reason);
  }
  return text.empty() ? "none" : text;
}

// Whether all live, and nothing is wrong.
bool AllWell(const ServerJson& answer) {
  const auto lives = [](const ServerJson& peer) { return peer.at("alive").get<bool>(); };
  const ServerJson& peers = answer.at("peers");
  return std::all_of(peers.begin(), peers.end(), lives) &&
         answer.value("problems", ServerJson::array()).empty();
}

void Print(const ServerJson& answer, Terminal& out) {
  out.Print("{} at {}, incarnation {}, {}; rejected datagrams: {}\n",
            answer.at("node").get<std::string>(), answer.at("address").get<std::string>(),
            answer.at("incarnation").get<uint64_t>(),
            answer.at("ready").get<bool>() ? "ready" : "joining",
            Rejections(answer.at("rejected")));
  out.Paint(Ink::kBold, kRow, Fitted("node", 16), Fitted("address", 21), "alive", "last heard",
            "staleness", "round trip", "bytes in", "bytes out", "grams in", "grams out",
            "rejected");
  out.Print("\n");
  for (const ServerJson& peer : answer.at("peers")) {
    const bool alive = peer.at("alive").get<bool>();
    out.Paint(alive ? Ink::kPlain : Ink::kRed, "{}", Row(peer));
    out.Print("\n");
  }
  for (const ServerJson& warning : answer.value("warnings", ServerJson::array())) {
    out.Paint(Ink::kYellow, "warning: {}", warning.get<std::string>());
    out.Print("\n");
  }
  // An earlier version tells none.
  for (const ServerJson& problem : answer.value("problems", ServerJson::array())) {
    out.Paint(Ink::kRed, "problem: {}", problem.at("message").get<std::string>());
    out.Print(" (since {})\n", problem.at("since").get<std::string>());
  }
}

}  // namespace

int RunClusterStatus(const ClientOptions& options, Terminal& out, Terminal& errors) {
  const Result<std::unique_ptr<HttpClient>> client = OpenClient(options);
  if (!client) return PrintError(errors, client.error()), kExitTrouble;
  const Result<ServerJson> answer = Understood(options, (*client)->Get("/v1/cluster"),
                                               {{"node", &ServerJson::is_string},
                                                {"rejected", &ServerJson::is_object},
                                                {"peers", &ServerJson::is_array}});
  if (!answer) return PrintError(errors, answer.error()), kExitTrouble;
  if (options.json) {
    PrintAnswer(out, *answer);
  } else {
    Print(*answer, out);
  }
  return AllWell(*answer) ? 0 : 1;
}

}  // namespace weir

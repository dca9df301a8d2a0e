#include "server/cluster_route.h"

#include <nlohmann/json.hpp>

#include "fronts/http/json_out.h"

namespace weir {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Milliseconds, with fractions; null if it is not known.
OrderedJson Millis(Duration duration) {
  if (duration < Duration::zero()) return nullptr;
  return std::chrono::duration<double, std::milli>(duration).count();
}

OrderedJson ToJson(const cluster::PeerStatus& peer) {
  return {{"node", peer.id},
          {"address", peer.address},
          {"alive", peer.alive},
          {"incarnation", peer.incarnation},
          {"last_heard_ms", Millis(peer.last_heard)},
          {"staleness_ms", Millis(peer.staleness)},
          {"round_trip_ms", Millis(peer.round_trip)},
          {"bytes_in", peer.traffic.bytes_in},
          {"bytes_out", peer.traffic.bytes_out},
          {"datagrams_in", peer.traffic.datagrams_in},
          {"datagrams_out", peer.traffic.datagrams_out},
          {"rejected", peer.traffic.rejected}};
}

OrderedJson ToJson(const cluster::NodeStatus& status, const std::string& address) {
  OrderedJson answer = {{"node", status.id},
                        {"address", address},
                        {"incarnation", status.incarnation},
                        {"ready", status.ready},
                        {"peers", OrderedJson::array()},
                        {"rejected", OrderedJson::object()}};
  for (const cluster::PeerStatus& peer : status.peers) answer["peers"].push_back(ToJson(peer));
  for (size_t i = 0; i < status.rejected.size(); ++i) {
    const auto reason = static_cast<cluster::Rejection>(i);
    answer["rejected"][std::string(cluster::RejectionName(reason))] = status.rejected[i];
  }
  answer["copies"] = {{"asked", status.copies.asked},       {"received", status.copies.received},
                      {"failed", status.copies.failed},     {"given", status.copies.given},
                      {"bytes_in", status.copies.bytes_in}, {"bytes_out", status.copies.bytes_out}};
  const cluster::QuestionCounts& questions = status.questions;
  answer["questions"] = {{"asked", questions.asked},
                         {"answered", questions.answered},
                         {"unanswered", questions.unanswered},
                         {"given", questions.given}};
  return answer;
}

void SendError(http::Responder& responder, int status, Code code, std::string_view message) {
  std::string text;
  http::AppendError(text, CodeName(code), message, "");
  responder.Send({.status = status, .content_type = "application/json", .body = text});
}

}  // namespace

void AddClusterRoute(http::RouteTable& routes, ClusterService* cluster, const Tokens& tokens) {
  routes.Add("GET", "/v1/cluster",
             [cluster, &tokens](const http::HttpRequest& request, http::Responder responder) {
               const std::string_view authorization =
                   request.FindHeader("authorization").value_or("");
               if (!tokens.Allow(authorization, request.from_loopback, Role::kRead, "")) {
                 return SendError(responder, 401, Code::kUnauthenticated,
                                  "a token that may read all namespaces is needed");
               }
               if (cluster == nullptr) {
                 return SendError(responder, 404, Code::kNotFound,
                                  "this server is not a node of a cluster (--cluster)");
               }
               const std::string text = ToJson(cluster->Status(), cluster->address()).dump();
               responder.Send({.status = 200, .content_type = "application/json", .body = text});
             });
}

}  // namespace weir

#include "server/routes/cluster_route.h"

#include <nlohmann/json.hpp>

#include "base/time_text.h"
#include "rules/print/warnings.h"

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
                        {"problems", OrderedJson::array()},
                        {"peers", OrderedJson::array()},
                        {"rejected", OrderedJson::object()}};
  for (const cluster::Problem& problem : status.problems) {
    answer["problems"].push_back({{"code", problem.code},
                                  {"message", problem.message},
                                  {"since", InstantText(problem.since)}});
  }
  for (const cluster::PeerStatus& peer : status.peers) answer["peers"].push_back(ToJson(peer));
  for (size_t i = 0; i < status.rejected.size(); ++i) {
    const auto reason = static_cast<cluster::Rejection>(i);
    answer["rejected"][std::string(cluster::RejectionName(reason))] = status.rejected[i];
  }
  answer["copies"] = {{"asked", status.copies.asked},       {"received", status.copies.received},
                      {"failed", status.copies.failed},     {"given", status.copies.given},
                      {"bytes_in", status.copies.bytes_in}, {"bytes_out", status.copies.bytes_out}};
  const cluster::QuestionCounts& questions = status.questions;
  answer["names"] = {{"refused", status.names_refused}, {"disputed", status.names_disputed}};
  answer["questions"] = {{"asked", questions.asked},
                         {"answered", questions.answered},
                         {"unanswered", questions.unanswered},
                         {"given", questions.given}};
  return answer;
}

std::vector<std::string> Warnings(const Settings& settings, const Limiter& limiter) {
  std::vector<std::string> all = PerNodeNotes(settings);
  for (std::string& warning : RuleWarnings(*limiter.rules())) all.push_back(std::move(warning));
  return all;
}

}  // namespace

void AddClusterRoute(http::RouteTable& routes, ClusterService* cluster, const Limiter& limiter,
                     const Settings& settings, ReportThread& reports) {
  routes.Add(
      "GET", "/v1/cluster", Operation::kCluster,
      [cluster, &limiter, &settings, &reports](const http::HttpRequest& request,
                                               http::Responder responder) {
        if (!request.May(Operation::kCluster, "")) {
          return LateAnswer::SendNow(AccessAnswer(request.policy, request.who, kNotAllNamespaces),
                                     responder);
        }
        if (cluster == nullptr) {
          return LateAnswer::SendNow(
              ErrorAnswer(
                  {Code::kNotFound, "this server is not a node of a cluster (--cluster)", ""}),
              responder);
        }
        reports.Write(request, std::move(responder), [cluster, &limiter, &settings](const Turn&) {
          OrderedJson answer = ToJson(cluster->Status(), cluster->address());
          answer["adhoc_coordination"] = settings.adhoc_coordination;
          answer["ratelimit_coordination"] = settings.ratelimit_coordination;
          answer["warnings"] = Warnings(settings, limiter);
          return Answer{.body = answer.dump()};
        });
      });
}

}  // namespace weir

#include "server/stats_route.h"

#include <nlohmann/json.hpp>

#include "fronts/http/json_out.h"

namespace weir {
namespace {

using OrderedJson = nlohmann::ordered_json;

int64_t CeilMillis(Duration d) {
  if (d == kNever) return -1;
  return (d.count() + 999'999) / 1'000'000;
}

OrderedJson Number(uint64_t n) { return n == UINT64_MAX ? OrderedJson(nullptr) : OrderedJson(n); }

OrderedJson ToJson(const Counts& counts) {
  return {{"admitted", counts.admitted}, {"refused", counts.refused}, {"cost", counts.cost}};
}

// Three lists side by side: a third of the size of a list of objects.
OrderedJson ToJson(const std::vector<Counts>& points) {
  OrderedJson admitted = OrderedJson::array(), refused = OrderedJson::array(),
              cost = OrderedJson::array();
  for (const Counts& point : points) {
    admitted.push_back(point.admitted);
    refused.push_back(point.refused);
    cost.push_back(point.cost);
  }
  return {{"admitted", admitted}, {"refused", refused}, {"cost", cost}};
}

OrderedJson ToJson(const History& history) {
  return {{"seconds", ToJson(history.seconds)}, {"minutes", ToJson(history.minutes)}};
}

OrderedJson ToJson(const std::vector<SubjectCount>& subjects) {
  OrderedJson list = OrderedJson::array();
  for (const SubjectCount& subject : subjects) {
    list.push_back({{"subject", subject.subject}, {"count", subject.count}});
  }
  return list;
}

OrderedJson ToJson(const LimitUse& limit) {
  return {{"name", limit.name},
          {"algorithm", limit.algorithm},
          {"capacity", Number(limit.capacity)},
          {"used", limit.used},
          {"remaining", Number(limit.remaining)},
          {"per_ms", CeilMillis(limit.per)},
          {"reset_after_ms", CeilMillis(limit.reset_after)},
          {"refuses", limit.refuses},
          {"shadow", limit.shadow},
          {"accuracy", limit.accuracy}};
}

// "limit "burst" refuses for 200 ms more" in the words of whoever is woken at night.
std::string Why(const Decision& decision) {
  if (decision.allowed) return "a request of cost 1 would be admitted now";
  std::string why = "limit \"" + std::string(decision.limit) + "\" is used up; ";
  if (decision.retry_after == kNever) return why + "waiting does not help";
  return why + "a request of cost 1 is admitted in " +
         std::to_string(CeilMillis(decision.retry_after)) + " ms";
}

OrderedJson Totals(const Limiter& limiter, std::string_view ns) {
  OrderedJson resources = OrderedJson::array();
  for (const ResourceCounts& resource : limiter.AllCounts().resources) {
    if (!ns.empty() && resource.namespace_name != ns) continue;
    OrderedJson limits = OrderedJson::array();
    for (const LimitCounts& limit : resource.limits) {
      limits.push_back({{"name", limit.limit},
                        {"refused", limit.refused},
                        {"would_refuse", limit.would_refuse}});
    }
    OrderedJson one = {{"namespace", resource.namespace_name}, {"resource", resource.resource}};
    one.update(ToJson(resource.total));
    one["limits"] = limits;
    resources.push_back(one);
  }
  return {{"resources", resources}};
}

void SendError(http::Responder& responder, int status, Code code, std::string_view message,
               std::string_view field) {
  std::string text;
  http::AppendError(text, CodeName(code), message, field);
  responder.Send({.status = status, .content_type = "application/json", .body = text});
}

void Answer(Limiter& limiter, const http::HttpRequest& request, http::Responder& responder) {
  const std::string_view ns = request.FindParameter("namespace").value_or("");
  const std::string_view resource = request.FindParameter("resource").value_or("");
  const auto subject = request.FindParameter("subject");
  OrderedJson answer;
  if (resource.empty() && !subject) {
    answer = Totals(limiter, ns);
  } else if (subject) {
    const SubjectReport report = limiter.Report(ns, resource, *subject, request.now);
    if (report.error != Code::kOk) {
      return SendError(responder, 404, report.error, report.message, "resource");
    }
    answer = {{"namespace", ns}, {"resource", resource}, {"subject", *subject}};
    answer["refused"] = !report.now.allowed;
    answer["why"] = Why(report.now);
    answer["retry_after_ms"] = CeilMillis(report.now.retry_after);
    answer["limits"] = OrderedJson::array();
    for (const LimitUse& limit : report.limits) answer["limits"].push_back(ToJson(limit));
    if (report.among_busiest) answer["estimated"] = ToJson(report.history);
  } else {
    const std::optional<History> past = limiter.Past(ns, resource, request.now);
    if (!past) {
      return SendError(responder, 404, Code::kUnknownResource, "there is no such resource",
                       "resource");
    }
    answer = {{"namespace", ns}, {"resource", resource}};
    for (const ResourceCounts& one : limiter.AllCounts().resources) {
      if (one.namespace_name == ns && one.resource == resource) answer["total"] = ToJson(one.total);
    }
    answer.update(ToJson(*past));
    answer["busiest"] = ToJson(limiter.Busiest(ns, resource));
    answer["most_refused"] = ToJson(limiter.MostRefused(ns, resource));
  }
  const std::string text = answer.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  responder.Send({.status = 200, .content_type = "application/json", .body = text});
}

}  // namespace

void AddStatsRoute(http::RouteTable& routes, Limiter& limiter, const Tokens& tokens) {
  routes.Add("GET", "/v1/stats",
             [&limiter, &tokens](const http::HttpRequest& request, http::Responder responder) {
               const std::string_view authorization =
                   request.FindHeader("authorization").value_or("");
               const std::string_view ns = request.FindParameter("namespace").value_or("");
               if (!tokens.Allow(authorization, request.from_loopback, Role::kRead, ns)) {
                 return SendError(responder, 401, Code::kUnauthenticated,
                                  "a token that may read this namespace is needed", "");
               }
               Answer(limiter, request, responder);
             });
}

}  // namespace weir

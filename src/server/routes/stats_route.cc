#include "server/routes/stats_route.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

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

// A limit in shadow would.
bool WouldRefuse(const SubjectReport& report) {
  return std::any_of(report.limits.begin(), report.limits.end(),
                     [](const LimitUse& limit) { return limit.shadow && limit.refuses; });
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

struct Question {
  std::string ns, resource;
  std::optional<std::string> subject;
};

Answer InJson(const OrderedJson& answer) {
  return {.body = answer.dump(-1, ' ', false, OrderedJson::error_handler_t::replace)};
}

Answer OfSubject(Limiter& limiter, const Question& asked, const Turn& now) {
  const SubjectReport report = limiter.Report(asked.ns, asked.resource, *asked.subject, now);
  if (report.error != Code::kOk) {
    Answer answer =
        ErrorAnswer({report.error, std::string(report.message), std::string(report.now.field)});
    if (report.error != Code::kBadRequest) answer.status = 404;
    return answer;
  }
  OrderedJson answer = {
      {"namespace", asked.ns}, {"resource", asked.resource}, {"subject", *asked.subject}};
  answer["refused"] = !report.now.allowed;
  answer["would_refuse"] = WouldRefuse(report);
  answer["why"] = Why(report.now);
  answer["retry_after_ms"] = CeilMillis(report.now.retry_after);
  answer["limits"] = OrderedJson::array();
  for (const LimitUse& limit : report.limits) answer["limits"].push_back(ToJson(limit));
  if (report.among_busiest) answer["estimated"] = ToJson(report.history);
  return InJson(answer);
}

Answer OfResource(Limiter& limiter, const Question& asked, const Turn& now) {
  const std::optional<History> past = limiter.Past(asked.ns, asked.resource, now);
  if (!past) {
    return ErrorAnswer({Code::kUnknownResource, "there is no such resource", "resource"});
  }
  OrderedJson answer = {{"namespace", asked.ns}, {"resource", asked.resource}};
  for (const ResourceCounts& one : limiter.AllCounts().resources) {
    if (one.namespace_name == asked.ns && one.resource == asked.resource) {
      answer["total"] = ToJson(one.total);
    }
  }
  answer.update(ToJson(*past));
  answer["busiest"] = ToJson(limiter.Busiest(asked.ns, asked.resource));
  answer["most_refused"] = ToJson(limiter.MostRefused(asked.ns, asked.resource));
  answer["would_refuse"] = ToJson(limiter.WouldRefuse(asked.ns, asked.resource));
  return InJson(answer);
}

}  // namespace

void AddStatsRoute(http::RouteTable& routes, Limiter& limiter, ReportThread& reports) {
  routes.Add("GET", "/v1/stats", Operation::kStatistics,
             [&limiter, &reports](const http::HttpRequest& request, http::Responder responder) {
               Question asked{std::string(request.FindParameter("namespace").value_or("")),
                              std::string(request.FindParameter("resource").value_or("")),
                              std::nullopt};
               if (const auto subject = request.FindParameter("subject")) asked.subject = *subject;
               if (!request.May(Operation::kStatistics, asked.ns)) {
                 return LateAnswer::SendNow(
                     AccessAnswer(request.policy, request.who,
                                  asked.ns.empty() ? kNotAllNamespaces : kNotThisNamespace),
                     responder);
               }
               reports.Write(request, std::move(responder), [&limiter, asked](const Turn& now) {
                 if (asked.subject) return OfSubject(limiter, asked, now);
                 if (!asked.resource.empty()) return OfResource(limiter, asked, now);
                 return InJson(Totals(limiter, asked.ns));
               });
             });
}

}  // namespace weir

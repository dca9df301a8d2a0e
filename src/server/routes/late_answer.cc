#include "server/routes/late_answer.h"

#include "fronts/codes.h"
#include "fronts/http/gate.h"
#include "fronts/http/json_out.h"

namespace weir {

Answer ErrorAnswer(const Error& error) {
  Answer answer{.status = HttpStatus(error.code)};
  http::AppendError(answer.body, error);
  if (error.code == Code::kUnauthenticated) answer.headers = "WWW-Authenticate: Bearer\r\n";
  return answer;
}

Answer AccessAnswer(const AccessPolicy* policy, const Asker& who, std::string_view wanted) {
  const Code why = policy == nullptr ? Code::kUnauthenticated : policy->WhyNot(who);
  return ErrorAnswer({why, std::string(why == Code::kForbidden ? wanted : http::kTokenNeeded), ""});
}

}  // namespace weir

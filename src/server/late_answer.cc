#include "server/late_answer.h"

#include "fronts/codes.h"
#include "fronts/http/json_out.h"

namespace weir {

Answer ErrorAnswer(const Error& error) {
  Answer answer{.status = HttpStatus(error.code)};
  http::AppendError(answer.body, error);
  if (error.code == Code::kUnauthenticated) answer.headers = "WWW-Authenticate: Bearer\r\n";
  return answer;
}

}  // namespace weir

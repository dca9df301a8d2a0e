// A JSON array of flat objects, read one object at a time and without keeping the rest.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace weir::lab {

struct JsonRequest {
  std::string user_id, time, cost;  // as they are written; empty if not
  size_t line = 0;                  // where the object begins
};

// Throws TraceError with the line.
void ReadJsonTrace(std::string_view text, const std::function<void(const JsonRequest&)>& take);

}  // namespace weir::lab

#include "fronts/resp/request_words.h"

#include "fronts/letters.h"
#include "fronts/number_word.h"
#include "fronts/numbers.h"

namespace weir::resp {
namespace {

Mistake ReadInto(std::string_view field, std::string_view word, uint64_t& value) {
  const NumberWord number = ReadNumber(word);
  value = number.value;
  return {field, number.mistake};
}

}  // namespace

Mistake ReadRequest(const Words& words, Request& request) {
  request = {.namespace_name = words[1], .resource = words[2], .subject = words[3]};
  bool has_cost = false;
  for (size_t i = 4; i < words.size(); ++i) {
    if (IsWord(words[i], "settle")) {
      request.settle = true;
      continue;
    }
    const bool cost = IsWord(words[i], "cost");
    if (!cost && !IsWord(words[i], "min")) {
      return {"", "the options are COST n, MIN n and SETTLE"};
    }
    if (cost ? has_cost : request.min_cost.has_value()) {
      return {cost ? "cost" : "min", "is there twice"};
    }
    if (++i == words.size()) return {cost ? "cost" : "min", "has no number behind it"};
    uint64_t number = 0;
    if (const Mistake mistake = ReadInto(cost ? "cost" : "min", words[i], number)) return mistake;
    if (cost) {
      request.cost = number;
      has_cost = true;
    } else {
      request.min_cost = number;
    }
  }
  return {};
}

Mistake ReadThrottle(const Words& words, AdhocRequest& request) {
  uint64_t max_burst = 0, seconds = 0;
  request.key = words[1];
  request.cost = 1;
  if (const Mistake m = ReadInto("max_burst", words[2], max_burst)) return m;
  if (const Mistake m = ReadInto("count", words[3], request.limit)) return m;
  if (const Mistake m = ReadInto("period", words[4], seconds)) return m;
  if (words.size() > 5) {
    if (const Mistake m = ReadInto("quantity", words[5], request.cost)) return m;
  }
  constexpr uint64_t kLongest = static_cast<uint64_t>(kNever / std::chrono::seconds(1)) - 1;
  if (request.limit == 0) return {"count", "is 0: nothing would ever be refilled"};
  if (seconds == 0) return {"period", "is 0"};
  if (seconds > kLongest) return {"period", "is longer than 292 years"};
  if (max_burst == kMostCost) return {"max_burst", "is greater than 9007199254740991"};
  request.per = std::chrono::seconds(seconds);
  request.burst = max_burst + 1;
  return {};
}

}  // namespace weir::resp

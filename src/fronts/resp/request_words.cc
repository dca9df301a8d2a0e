#include "fronts/resp/request_words.h"

#include <optional>
#include <span>

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

// An option that stands before a number.
struct NumberOption {
  std::string_view name;  // in small letters
  std::optional<uint64_t> value = std::nullopt;
};

// Reads what stands from words[from] on: numbers behind their names, and perhaps the word `flag`.
Mistake ReadOptions(const Words& words, size_t from, std::span<NumberOption> options,
                    std::string_view known, std::string_view flag = {}, bool* flagged = nullptr) {
  for (size_t i = from; i < words.size(); ++i) {
    if (flagged != nullptr && IsWord(words[i], flag)) {
      *flagged = true;
      continue;
    }
    NumberOption* option = nullptr;
    for (NumberOption& one : options) {
      if (IsWord(words[i], one.name)) option = &one;
    }
    if (option == nullptr) return {"", known};
    if (option->value) return {option->name, "is there twice"};
    if (++i == words.size()) return {option->name, "has no number behind it"};
    uint64_t number = 0;
    if (const Mistake mistake = ReadInto(option->name, words[i], number)) return mistake;
    option->value = number;
  }
  return {};
}

Mistake ReadTicket(std::string_view field, std::string_view word, Ticket& ticket) {
  const std::optional<Ticket> read = Ticket::Parse(word);
  if (!read) return {field, "is not 32 hexadecimal digits in small letters"};
  ticket = *read;
  return {};
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

Mistake ReadReserve(const Words& words, ReserveRequest& request) {
  request = {.namespace_name = words[1], .resource = words[2], .subject = words[3]};
  NumberOption options[] = {{"copies"}, {"min"}, {"wait"}, {"queue"}};
  if (const Mistake mistake = ReadOptions(
          words, 4, options, "the options are COPIES n, MIN n, WAIT ms, QUEUE n and SHARE", "share",
          &request.share)) {
    return mistake;
  }
  request.copies = options[0].value.value_or(1);
  request.min_copies = options[1].value;
  request.wait = FromMillis(options[2].value.value_or(0));
  request.max_queue = options[3].value;
  return {};
}

Mistake ReadRelease(const Words& words, HoldWords& request) {
  if (const Mistake mistake = ReadTicket("hold", words[1], request.hold)) return mistake;
  NumberOption options[] = {{"copies"}};
  if (const Mistake m = ReadOptions(words, 2, options, "the only option is COPIES n")) return m;
  if (options[0].value == 0) return {"copies", "is 0; without it, all are meant"};
  request.copies = options[0].value.value_or(0);
  return {};
}

Mistake ReadTransfer(const Words& words, HoldWords& request) {
  if (const Mistake mistake = ReadTicket("hold", words[1], request.hold)) return mistake;
  NumberOption options[] = {{"copies"}, {"ttl"}};
  if (const Mistake mistake =
          ReadOptions(words, 2, options, "the options are COPIES n and TTL ms")) {
    return mistake;
  }
  if (options[0].value == 0) return {"copies", "is 0; without it, all are meant"};
  if (!options[1].value) return {"ttl", "is missing"};
  if (options[1].value == 0) return {"ttl", "is 0"};
  if (FromMillis(*options[1].value) > kLongestTransfer) {
    return {"ttl", "is more than 86400000 (a day)"};
  }
  request.copies = options[0].value.value_or(0);
  request.ttl = FromMillis(*options[1].value);
  return {};
}

Mistake ReadSeize(const Words& words, Ticket& transfer) {
  return ReadTicket("transfer", words[1], transfer);
}

}  // namespace weir::resp

#include "fronts/http/json_request.h"

#include <simdjson.h>

#include <string>

#include "fronts/number_word.h"

namespace weir::http {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr size_t kKept = size_t{64} << 10;  // of memory, from one body to the next

Error Bad(std::string_view message, std::string_view field = {}) {
  return {Code::kBadRequest, std::string(message), std::string(field)};
}

// One for each thread: keeps its memory from one body to the next.
struct Parser {
  ondemand::parser parser;
  std::string padded;

  simdjson::simdjson_result<ondemand::document> Read(std::string_view body) {
    if (padded.capacity() > kKept) {
      padded = {};
      parser = ondemand::parser();
    }
    padded.reserve(body.size() + simdjson::SIMDJSON_PADDING);
    padded.assign(body);
    padded.append(simdjson::SIMDJSON_PADDING, ' ');
    return parser.iterate(padded.data(), body.size(), padded.size());
  }
};

Parser& ThreadParser() {
  thread_local Parser parser;
  return parser;
}

std::optional<Error> TakeString(ondemand::value& value, std::string_view key,
                                std::string_view& text) {
  const simdjson::error_code error = value.get_string().get(text);
  if (error == simdjson::INCORRECT_TYPE) return Bad("must be a string", key);
  if (error != simdjson::SUCCESS) return Bad("is not a string of JSON", key);
  return std::nullopt;
}

std::optional<Error> TakeNumber(ondemand::value& value, std::string_view key, uint64_t& number) {
  ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS || type != ondemand::json_type::number) {
    return Bad("must be a number", key);
  }
  std::string_view token = value.raw_json_token();
  token = token.substr(0, token.find_first_of(" \t\r\n"));
  const NumberWord word = ReadNumber(token);
  if (!word.mistake.empty()) return Bad(word.mistake, key);
  number = word.value;
  // The token was looked at and not taken; this takes it.
  if (value.get_uint64().error() != simdjson::SUCCESS) return Bad("is not a whole number", key);
  return std::nullopt;
}

std::optional<Error> TakeBool(ondemand::value& value, std::string_view key, bool& flag) {
  if (value.get_bool().get(flag) != simdjson::SUCCESS) return Bad("must be true or false", key);
  return std::nullopt;
}

// Calls take(key, value) for each field of the object that the body is.
template <typename Take>
std::optional<Error> ReadFields(std::string_view body, Take take) {
  const auto not_json = [] { return Bad("the body is not JSON"); };
  ondemand::document document;
  if (ThreadParser().Read(body).get(document) != simdjson::SUCCESS) return not_json();
  ondemand::object object;
  if (const auto error = document.get_object().get(object); error != simdjson::SUCCESS) {
    return error == simdjson::INCORRECT_TYPE ? Bad("the body is not a JSON object") : not_json();
  }
  for (auto result : object) {
    ondemand::field field;
    if (std::move(result).get(field) != simdjson::SUCCESS) return not_json();
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return not_json();
    if (std::optional<Error> error = take(key, field.value())) return error;
  }
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return Bad("something stands behind the JSON object");
  }
  return std::nullopt;
}

// Which fields were there.
class Seen {
 public:
  // False if it was there before.
  bool Add(unsigned field) {
    const bool fresh = (bits_ >> field & 1) == 0;
    bits_ |= 1u << field;
    return fresh;
  }
  // The first of the `names` that was not.
  template <size_t kCount>
  std::optional<Error> Missing(const std::string_view (&names)[kCount], unsigned required) const {
    for (unsigned i = 0; i < required; ++i) {
      if ((bits_ >> i & 1) == 0) return Bad("is missing", names[i]);
    }
    return std::nullopt;
  }

 private:
  unsigned bits_ = 0;
};

template <size_t kCount>
unsigned IndexOf(const std::string_view (&names)[kCount], std::string_view key) {
  unsigned i = 0;
  while (i < kCount && names[i] != key) ++i;
  return i;
}

}  // namespace

std::optional<Error> ReadRequest(std::string_view body, Request& request) {
  static constexpr std::string_view kNames[] = {"namespace", "resource", "subject",
                                                "cost",      "min_cost", "settle"};
  request = {};
  Seen seen;
  const auto take = [&](std::string_view key, ondemand::value& value) -> std::optional<Error> {
    const unsigned field = IndexOf(kNames, key);
    if (field == std::size(kNames)) return Bad("is not a field of this request", key);
    if (!seen.Add(field)) return Bad("is there twice", key);
    switch (field) {
      case 0: return TakeString(value, key, request.namespace_name);
      case 1: return TakeString(value, key, request.resource);
      case 2: return TakeString(value, key, request.subject);
      case 3: return TakeNumber(value, key, request.cost);
      case 4: return TakeNumber(value, key, request.min_cost.emplace());
      default: return TakeBool(value, key, request.settle);
    }
  };
  if (std::optional<Error> error = ReadFields(body, take)) return error;
  if (std::optional<Error> error = seen.Missing(kNames, 3)) return error;
  if (request.min_cost.value_or(request.cost) > request.cost) {
    return Bad("is greater than cost", "min_cost");
  }
  return std::nullopt;
}

std::optional<Error> ReadSettle(std::string_view body, SettleRequest& request) {
  static constexpr std::string_view kNames[] = {"ticket", "cost"};
  Seen seen;
  std::string_view ticket;
  const auto take = [&](std::string_view key, ondemand::value& value) -> std::optional<Error> {
    const unsigned field = IndexOf(kNames, key);
    if (field == std::size(kNames)) return Bad("is not a field of this request", key);
    if (!seen.Add(field)) return Bad("is there twice", key);
    if (field == 0) return TakeString(value, key, ticket);
    return TakeNumber(value, key, request.cost);
  };
  if (std::optional<Error> error = ReadFields(body, take)) return error;
  if (std::optional<Error> error = seen.Missing(kNames, 2)) return error;
  const std::optional<Ticket> parsed = Ticket::Parse(ticket);
  if (!parsed) return Bad("is not 32 hexadecimal digits in small letters", "ticket");
  request.ticket = *parsed;
  return std::nullopt;
}

}  // namespace weir::http

#include "fronts/http/json_request.h"

#include <simdjson.h>

#include <string>

#include "base/heap_bytes.h"
#include "fronts/http/body_fields.h"
#include "fronts/number_word.h"
#include "fronts/numbers.h"

namespace weir::http {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr size_t kKept = size_t{64} << 10;  // of memory, from one body to the next

Error BadBody(std::string_view message, std::string_view field = {}) {
  return {Code::kBadRequest, std::string(message), std::string(field)};
}

// One for each thread: keeps its memory from one body to the next.
struct Parser {
  ondemand::parser parser;
  std::string padded;

  simdjson::simdjson_result<ondemand::document> Read(std::string_view body) {
    if (padded.capacity() > kKept) {
      weir::Release(padded);
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
  if (error == simdjson::INCORRECT_TYPE) return BadBody("must be a string", key);
  if (error != simdjson::SUCCESS) return BadBody("is not a string of JSON", key);
  return std::nullopt;
}

std::optional<Error> TakeNumber(ondemand::value& value, std::string_view key, uint64_t& number) {
  ondemand::json_type type;
  if (value.type().get(type) != simdjson::SUCCESS || type != ondemand::json_type::number) {
    return BadBody("must be a number", key);
  }
  std::string_view token = value.raw_json_token();
  token = token.substr(0, token.find_first_of(" \t\r\n"));
  const NumberWord word = ReadNumber(token);
  if (!word.mistake.empty()) return BadBody(word.mistake, key);
  number = word.value;
  // The token was looked at and not taken; this takes it.
  if (value.get_uint64().error() != simdjson::SUCCESS) return BadBody("is not a whole number", key);
  return std::nullopt;
}

// A number that 0 does not stand for.
std::optional<Error> TakePositive(ondemand::value& value, std::string_view key, uint64_t& number) {
  if (std::optional<Error> error = TakeNumber(value, key, number)) return error;
  if (number == 0) return BadBody("is 0", key);
  return std::nullopt;
}

std::optional<Error> TakeMillis(ondemand::value& value, std::string_view key, Duration& time) {
  uint64_t millis = 0;
  if (std::optional<Error> error = TakeNumber(value, key, millis)) return error;
  time = FromMillis(millis);
  return std::nullopt;
}

std::optional<Error> ParseTicket(std::string_view text, std::string_view key, Ticket& ticket) {
  const std::optional<Ticket> parsed = Ticket::Parse(text);
  if (!parsed) return BadBody("is not 32 hexadecimal digits in small letters", key);
  ticket = *parsed;
  return std::nullopt;
}

std::optional<Error> TakeTicket(ondemand::value& value, std::string_view key, Ticket& ticket) {
  std::string_view text;
  if (std::optional<Error> error = TakeString(value, key, text)) return error;
  return ParseTicket(text, key, ticket);
}

std::optional<Error> TakeBool(ondemand::value& value, std::string_view key, bool& flag) {
  if (value.get_bool().get(flag) != simdjson::SUCCESS) return BadBody("must be true or false", key);
  return std::nullopt;
}

// Calls take(key, value) for each field of the object that the body is.
template <typename Take>
std::optional<Error> ReadFields(std::string_view body, Take take) {
  const auto not_json = [] { return BadBody("the body is not JSON"); };
  ondemand::document document;
  if (ThreadParser().Read(body).get(document) != simdjson::SUCCESS) return not_json();
  ondemand::object object;
  if (const auto error = document.get_object().get(object); error != simdjson::SUCCESS) {
    return error == simdjson::INCORRECT_TYPE ? BadBody("the body is not a JSON object")
                                             : not_json();
  }
  for (auto result : object) {
    ondemand::field field;
    if (std::move(result).get(field) != simdjson::SUCCESS) return not_json();
    std::string_view key;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return not_json();
    if (std::optional<Error> error = take(key, field.value())) return error;
  }
  if (document.current_location().error() != simdjson::OUT_OF_BOUNDS) {
    return BadBody("something stands behind the JSON object");
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
  // The first that must be there and was not.
  template <size_t kCount>
  std::optional<Error> Missing(const BodyField (&fields)[kCount]) const {
    for (unsigned i = 0; i < kCount; ++i) {
      if (fields[i].required && (bits_ >> i & 1) == 0) return BadBody("is missing", fields[i].name);
    }
    return std::nullopt;
  }

 private:
  unsigned bits_ = 0;
};

template <size_t kCount>
unsigned IndexOf(const BodyField (&fields)[kCount], std::string_view key) {
  unsigned i = 0;
  while (i < kCount && fields[i].name != key) ++i;
  return i;
}

// Calls take(i, key, value) for each field, fields[i] being it. No other than these may be there.
template <size_t kCount, typename Take>
std::optional<Error> ReadNamed(std::string_view body, const BodyField (&fields)[kCount],
                               Take take) {
  Seen seen;
  const auto take_one = [&](std::string_view key, ondemand::value& value) -> std::optional<Error> {
    const unsigned field = IndexOf(fields, key);
    if (field == kCount) return BadBody("is not a field of this request", key);
    if (!seen.Add(field)) return BadBody("is there twice", key);
    return take(field, key, value);
  };
  if (std::optional<Error> error = ReadFields(body, take_one)) return error;
  return seen.Missing(fields);
}

}  // namespace

std::optional<Error> ReadRequest(std::string_view body, Request& request) {
  request = {};
  const auto take = [&](unsigned field, std::string_view key,
                        ondemand::value& value) -> std::optional<Error> {
    switch (field) {
      case 0: return TakeString(value, key, request.namespace_name);
      case 1: return TakeString(value, key, request.resource);
      case 2: return TakeString(value, key, request.subject);
      case 3: return TakeNumber(value, key, request.cost);
      case 4: return TakeNumber(value, key, request.min_cost.emplace());
      default: return TakeBool(value, key, request.settle);
    }
  };
  if (std::optional<Error> error = ReadNamed(body, kRequestFields, take)) return error;
  if (request.min_cost.value_or(request.cost) > request.cost) {
    return BadBody("is greater than cost", "min_cost");
  }
  return std::nullopt;
}

std::optional<Error> ReadSettle(std::string_view body, SettleRequest& request) {
  std::string_view ticket;
  const auto take = [&](unsigned field, std::string_view key, ondemand::value& value) {
    return field == 0 ? TakeString(value, key, ticket) : TakeNumber(value, key, request.cost);
  };
  if (std::optional<Error> error = ReadNamed(body, kSettleFields, take)) return error;
  return ParseTicket(ticket, "ticket", request.ticket);
}

std::optional<Error> ReadReserve(std::string_view body, SessionId& session,
                                 ReserveRequest& request) {
  request = {};
  const auto take = [&](unsigned field, std::string_view key,
                        ondemand::value& value) -> std::optional<Error> {
    switch (field) {
      case 0: return TakeTicket(value, key, session);
      case 1: return TakeString(value, key, request.namespace_name);
      case 2: return TakeString(value, key, request.resource);
      case 3: return TakeString(value, key, request.subject);
      case 4: return TakePositive(value, key, request.copies);
      case 5: return TakeNumber(value, key, request.min_copies.emplace());
      case 6: return TakeMillis(value, key, request.wait);
      case 7: return TakeNumber(value, key, request.max_queue.emplace());
      default: return TakeBool(value, key, request.share);
    }
  };
  if (std::optional<Error> error = ReadNamed(body, kReserveFields, take)) return error;
  if (request.min_copies.value_or(request.copies) > request.copies) {
    return BadBody("is greater than copies", "min_copies");
  }
  return std::nullopt;
}

std::optional<Error> ReadRelease(std::string_view body, HoldRequest& request) {
  return ReadNamed(body, kReleaseFields,
                   [&](unsigned field, std::string_view key, ondemand::value& value) {
                     if (field == 2) return TakePositive(value, key, request.copies);
                     return TakeTicket(value, key, field == 0 ? request.session : request.hold);
                   });
}

std::optional<Error> ReadTransfer(std::string_view body, HoldRequest& request) {
  const auto take = [&](unsigned field, std::string_view key, ondemand::value& value) {
    if (field == 2) return TakeMillis(value, key, request.ttl);
    if (field == 3) return TakePositive(value, key, request.copies);
    return TakeTicket(value, key, field == 0 ? request.session : request.hold);
  };
  if (std::optional<Error> error = ReadNamed(body, kTransferFields, take)) return error;
  if (request.ttl == Duration::zero()) return BadBody("is 0", "ttl_ms");
  if (request.ttl > kLongestTransfer) return BadBody("is more than 86400000 (a day)", "ttl_ms");
  return std::nullopt;
}

std::optional<Error> ReadSeize(std::string_view body, HoldRequest& request) {
  return ReadNamed(body, kSeizeFields,
                   [&](unsigned field, std::string_view key, ondemand::value& value) {
                     return TakeTicket(value, key, field == 0 ? request.session : request.transfer);
                   });
}

std::optional<Error> ReadSession(std::string_view body, Duration& ttl) {
  ttl = kUsualSession;
  if (body.empty()) return std::nullopt;
  const auto take = [&](unsigned, std::string_view key, ondemand::value& value) {
    return TakeMillis(value, key, ttl);
  };
  if (std::optional<Error> error = ReadNamed(body, kSessionFields, take)) return error;
  if (ttl < kShortestSession || ttl > kLongestSession) {
    return BadBody("must be from 1000 (a second) to 3600000 (an hour)", "ttl_ms");
  }
  return std::nullopt;
}

}  // namespace weir::http

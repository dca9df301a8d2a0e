// What every command that asks a running server has in common: where it is, how to talk to it, and
// how its answers and its errors are told.
#pragma once

#include <initializer_list>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/terminal.h"
#include "net/client_stream.h"
#include "net/http_client.h"
#include "weir/error.h"
#include "weir/instant.h"

namespace weir {

struct ClientOptions {
  std::string server = "127.0.0.1:8080";
  std::string token;
  Duration deadline = std::chrono::milliseconds(200);
  ClientTls tls;
  bool json = false;
};

inline constexpr int kExitTrouble = 2;

// An address that is none is an error. Asks nobody yet.
Result<std::unique_ptr<HttpClient>> OpenClient(const ClientOptions& options);

using ServerJson = nlohmann::ordered_json;

// A field that the answer of a Weir has: whatever else listens there may answer anything.
struct AnswerField {
  const char* name;
  bool (ServerJson::*is)() const noexcept;
};

// The answer's body, or what the server says is wrong: its code, message and field; "status 502 from
// HOST" where it does not say, and that it is no Weir where a field is missing.
Result<ServerJson> Understood(const ClientOptions& options, const Result<HttpAnswer>& answer,
                              std::initializer_list<AnswerField> fields);
Error NotWeir(const ClientOptions& options, std::string_view why);

// "error: bad_request: cost is too large (field: cost)".
void PrintError(Terminal& errors, const Error& error);
// On one line.
void PrintAnswer(Terminal& out, const ServerJson& answer);

// What a server says, for people: text as it is, numbers as text, nothing as "unlimited".
std::string TextOf(const ServerJson& value);
// Milliseconds, as people say them; -1 is "never", and what is no number "-".
std::string MillisText(const ServerJson& value);

}  // namespace weir

// GET /v1/openapi.json: the HTTP API in the words of OpenAPI 3.1, made of the tables that bodies, answers
// and rules are read and written by. api/openapi.json is the same text, for who has no server at hand;
// tests/server/openapi_test.cc holds it to this.
#pragma once

#include <string_view>

namespace weir {

std::string_view OpenApi();

}  // namespace weir

// GET /v1/openapi.json: the HTTP API in the words of OpenAPI 3.1.
#pragma once

#include <string_view>

namespace weir {

std::string_view OpenApi();

}  // namespace weir

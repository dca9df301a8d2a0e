#include "server/openapi.h"

#include <cstddef>

namespace weir {

// api/openapi.json, put into the program by the build.
extern const char openapi_json[];
extern const std::size_t openapi_json_size;

std::string_view OpenApi() { return {openapi_json, openapi_json_size}; }

}  // namespace weir

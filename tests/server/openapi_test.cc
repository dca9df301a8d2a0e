// api/openapi.json is what the tables of the API come to.
#include "server/routes/openapi.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace weir::openapi_test {
namespace {

TEST(OpenApi, TheFileIsWhatTheTablesComeTo) {
  const std::string path = std::string(WEIR_SOURCE_DIR) + "/api/openapi.json";
  if (std::getenv("WEIR_REWRITE") != nullptr) std::ofstream(path) << OpenApi();
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  // Byte for byte, whatever compiled it.
  EXPECT_TRUE(text.str() == OpenApi())
      << path << " is not what the tables come to (fronts/http/body_fields.h, answer_fields.h, "
      << "rules/read/keys.h, server/routes/openapi.cc): WEIR_REWRITE=1 build/tests/server_test "
      << "--gtest_filter=OpenApi.* writes it anew";
}

}  // namespace
}  // namespace weir::openapi_test

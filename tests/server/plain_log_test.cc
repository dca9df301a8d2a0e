#include "server/plain_log.h"

#include <gtest/gtest.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ostream_sink.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "base/plain_text.h"
#include "server/json_formatter.h"

namespace weir::plain_log_test {
namespace {

const std::string kHostile =
    "ann\n2026-01-01T00:00:00.000 info forged \x1b]0;owned\x07\x1b[2J\xc2\x9b"
    "1m\x7f\xe2\x80\xae\xff";

std::string Logged(std::unique_ptr<spdlog::formatter> formatter, const std::string& text) {
  std::ostringstream out;
  spdlog::logger log("test", std::make_shared<spdlog::sinks::ostream_sink_st>(out));
  log.set_formatter(std::move(formatter));
  log.info("subject {} is refused", text);
  return out.str();
}

std::unique_ptr<spdlog::formatter> Lines() {
  return std::make_unique<PlainFormatter>(
      std::make_unique<spdlog::pattern_formatter>("%l %v", spdlog::pattern_time_type::local, "\n"));
}

TEST(PlainLog, LinesAreOneLineOfText) {
  EXPECT_EQ(Logged(Lines(), "ann"), "info subject ann is refused\n");
  const std::string line = Logged(Lines(), kHostile);
  ASSERT_TRUE(line.ends_with('\n'));
  EXPECT_TRUE(IsPlainText(line.substr(0, line.size() - 1))) << line;
  EXPECT_NE(line.find("ann\\n2026"), std::string::npos) << line;
}

TEST(PlainLog, JsonIsOneLineOfTextAndTellsTheSame) {
  const std::string line = Logged(std::make_unique<JsonFormatter>(), kHostile);
  ASSERT_TRUE(line.ends_with('\n'));
  EXPECT_TRUE(IsPlainText(line.substr(0, line.size() - 1))) << line;
  const auto json = nlohmann::json::parse(line);
  const std::string told = json["message"];
  EXPECT_EQ(told, "subject " + kHostile.substr(0, kHostile.size() - 1) + "\xef\xbf\xbd is refused");
}

}  // namespace
}  // namespace weir::plain_log_test

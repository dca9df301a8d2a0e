// Nothing that came from outside reaches a terminal or a log as it is: not a subject's name, not what
// a server says, not what stands in a file. Every command and every kind of log line is driven with
// names that would clear the screen, set its title, forge a line or turn the text around.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/cli/fake_server.h"
#include "tests/cli/process.h"
#include "tests/e2e/server_process.h"

namespace weir::hostile_test {
namespace {

using cli::FakeServer;
using cli::HttpAnswerOf;
using e2e::ServerProcess;
using e2e::TemporaryFiles;

// As bytes; and as a string of JSON or of YAML spells it.
const std::string kRaw =
    "\x1b]0;owned\x07\x1b[2J\x1b[31mred\nforged\r\t\x7f\xc2\x9b"
    "1m\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xe2\x80\x8b\xef\xbb\xbf";
const std::string kSpelled =
    "\\u001b]0;owned\\u0007\\u001b[2J\\u001b[31mred\\nforged\\r\\t\\u007f\\u009b1m\\u202e\\u2066"
    "\\u2028\\u200b\\ufeff";
// What a rules file may hold in a name: no control characters, but all others.
const std::string kAllowed = "a\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xe2\x80\x8bz";

// Our own: colours, and what redraws a screen.
void RemoveOwn(std::string& text) {
  for (const std::string own :
       {"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[m", "\x1b[H",
        "\x1b[K", "\x1b[J", "\x1b[?1049h", "\x1b[?1049l", "\x1b[?25l", "\x1b[?25h", "\n"}) {
    for (size_t at; (at = text.find(own)) != std::string::npos;) text.erase(at, own.size());
  }
}

// What a terminal would obey or a reader be misled by, in words; empty if there is none.
std::string Unsafe(std::string text, bool colours = false) {
  if (colours) {
    RemoveOwn(text);
  }
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](size_t n) {
      return i + n < text.size() ? static_cast<unsigned char>(text[i + n]) : 0u;
    };
    if (byte(0) == '\n') continue;
    const std::string where = " at byte " + std::to_string(i) + " of: " + text.substr(0, 2000);
    if (byte(0) < 0x20 || byte(0) == 0x7f) return "control " + std::to_string(byte(0)) + where;
    if (byte(0) == 0xc2 && byte(1) < 0xa0) return "C1" + where;
    const bool two = byte(0) == 0xe2;
    if (two && byte(1) == 0x80 && byte(2) >= 0xa8 && byte(2) <= 0xae) return "direction" + where;
    if (two && byte(1) == 0x80 && byte(2) >= 0x8b && byte(2) <= 0x8f) return "unseen" + where;
    if (byte(0) == 0xef && byte(1) == 0xbb && byte(2) == 0xbf) return "byte order" + where;
    if (two && byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9) return "isolate" + where;
  }
  if (text.find("forged\n") == 0 || text.find("\nforged") != std::string::npos) {
    return "a forged line of: " + text;
  }
  return "";
}

class Hostile : public testing::Test {
 protected:
  Ran Weir(std::vector<std::string> arguments, const std::string& input = "") const {
    arguments.insert(arguments.begin(), WEIR_BINARY);
    return RunWithPipe(arguments, input);
  }
  // Runs it, and looks at both outputs.
  Ran Expect(const std::vector<std::string>& arguments, const std::string& input = "") const {
    const Ran ran = Weir(arguments, input);
    EXPECT_EQ(Unsafe(ran.out), "") << arguments[0];
    EXPECT_EQ(Unsafe(ran.errors), "") << arguments[0];
    EXPECT_NE(ran.exit_code, 128 + 6) << arguments[0] << " aborts";
    return ran;
  }
  std::string Write(const std::string& name, const std::string& text) const {
    return files_.Write(name, text);
  }
  std::string Rules() const {
    return Write("rules.yaml", "namespaces:\n  shop:\n    resources:\n      \"" + kAllowed +
                                   "\": {limits: [{name: \"" + kAllowed +
                                   "\", limit: 1, per: 6h}]}\n"
                                   "      box: {copies: {per_subject: 1}}\n");
  }
  const TemporaryFiles files_;
};

std::string At(const ServerProcess& server, const std::string& front) {
  return "127.0.0.1:" + std::to_string(server.port(front));
}

TEST_F(Hostile, NamesReachNoTerminalThroughARealServer) {
  ServerProcess server({"--config", Rules()});
  const std::string at = At(server, "http");
  for (int i = 0; i < 3; ++i) {
    const Ran asked = Expect({"request", "--server", at, "shop", kAllowed, kRaw});
    EXPECT_EQ(asked.exit_code, i == 0 ? 0 : 1) << asked.errors;
  }
  Expect({"request", "--server", at, "--json", "shop", kAllowed, kRaw});
  Expect({"request", "--server", at, kRaw, kRaw, kRaw});
  Expect({"peek", "--server", at, "shop", kRaw, kRaw});
  Expect({"settle", "--server", at, kRaw, "1"});
  Expect({"config", "export", "--server", at});
  Expect({"config", "export", "--server", at, "--format", "json"});
  Expect({"config", "diff", "--server", at, Rules()});
  Expect({"config", "import", "--server", at, Rules()});
  Expect({"cluster", "status", "--server", at});
  const Ran top = Expect({"top", "--server", at, "--once"});
  EXPECT_NE(top.out.find("\\u001b]0;owned"), std::string::npos) << top.out;
  Expect({"top", "--server", at, "--once", "--json"});
  Expect({"top", "--server", at, "--once", "shop", kRaw});
  Expect({"top", "--server", at, "--once", kRaw});
  const std::string resp = At(server, "resp");
  Expect({"reserve", "--resp", resp, "shop", kRaw, kRaw, "--", "true"});
  Expect({"reserve", "--resp", resp, "shop", "box", kRaw, "--", WEIR_BINARY, "reserve", "--resp",
          resp, "shop", "box", kRaw, "--", "true"});
  Expect({"reserve", "--resp", resp, "shop", "box", "ann", "--", kRaw});
  server.Signal(15);
  server.WaitForEnd();
  EXPECT_EQ(Unsafe(server.log()), "");
}

TEST_F(Hostile, SubjectsReachNoTerminalThatIsRedrawn) {
  ServerProcess server({"--config", Rules()});
  const std::string at = At(server, "http");
  for (int i = 0; i < 2; ++i) Weir({"request", "--server", at, "shop", kAllowed, kRaw});
  const Ran top = RunAtTerminal({WEIR_BINARY, "top", "--server", at}, "q");
  EXPECT_EQ(top.exit_code, 0) << top.out;
  EXPECT_EQ(Unsafe(top.out, true), "");
  EXPECT_NE(top.out.find("\\u001b]0;"), std::string::npos) << top.out;
  const Ran asked =
      RunAtTerminal({WEIR_BINARY, "request", "--server", at, "shop", kAllowed, kRaw}, "");
  EXPECT_EQ(Unsafe(asked.out, true), "");
}

TEST_F(Hostile, WhatAServerSaysReachesNoTerminal) {
  const std::string text = "\"" + kSpelled + "\"";
  const std::string raw_text = "\"a\x7f\xc2\x9b\xe2\x80\xae\"";
  const std::vector<std::string> answers = {
      HttpAnswerOf(
          "{\"error\":{\"code\":" + text + ",\"message\":" + text + ",\"field\":" + text + "}}",
          "400 Bad"),
      HttpAnswerOf("{\"error\":{\"code\":" + raw_text + ",\"message\":7}}", "500 " + kAllowed),
      HttpAnswerOf("{\"error\":" + text + "}"),
      HttpAnswerOf("{\"allowed\":false,\"limit\":" + text + ",\"retry_after_ms\":" + text +
                   ",\"limits\":[{\"name\":" + raw_text + ",\"limit\":" + text +
                   "}],\"ticket\":" + text + ",\"charged\":" + text + ",\"version\":" + text +
                   ",\"normalised\":[{\"path\":" + text + ",\"why\":" + text + "}]}"),
      HttpAnswerOf("{\"resources\":[{\"namespace\":" + text + ",\"resource\":" + text +
                   ",\"admitted\":1}],\"busiest\":[{\"subject\":" + text +
                   ",\"count\":1}],\"would_refuse\":[{\"subject\":" + raw_text +
                   ",\"count\":1}],\"most_refused\":" + text + "}"),
      HttpAnswerOf("{\"node\":" + text + ",\"address\":" + text +
                   ",\"incarnation\":1,\"ready\":true,\"rejected\":{" + text +
                   ":1},\"peers\":[{\"node\":" + text + ",\"address\":" + raw_text +
                   ",\"alive\":false,\"last_heard_ms\":" + text +
                   ",\"staleness_ms\":1,\"round_trip_ms\":null,\"bytes_in\":1,\"bytes_out\":1,"
                   "\"datagrams_in\":1,\"datagrams_out\":1,\"rejected\":1}]}"),
      HttpAnswerOf("{" + text + ":{" + text + ":" + raw_text + "}}"),
      HttpAnswerOf(kRaw),
      "HTTP/1.1 200 " + kRaw,
      kRaw + "\r\n\r\n",
      "\xff\xfe",
      ""};
  const std::string file = Write("good.yaml", "namespaces: {}\n");
  for (const std::string& answer : answers) {
    const FakeServer server(answer);
    const std::string at = server.address();
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"request", "a", "b", "c"},
                                               {"request", "--json", "a", "b", "c"},
                                               {"peek", "a", "b", "c"},
                                               {"settle", "a", "1"},
                                               {"config", "export"},
                                               {"config", "export", "--format", "json"},
                                               {"config", "import", file},
                                               {"config", "diff", file},
                                               {"cluster", "status"},
                                               {"cluster", "status", "--json"},
                                               {"top", "--once"},
                                               {"top", "--once", "--json"},
                                               {"top", "--once", "a", "b"}}) {
      std::vector<std::string> all = command;
      all.insert(all.end(), {"--server", at, "--deadline", "5s"});
      Expect(all);
    }
  }
}

// Whoever mistypes a port talks to another server: he is told so, in one line, and nothing of it is shown as if a
// Weir had said it.
TEST_F(Hostile, AServerThatIsNoWeirIsToldOnce) {
  const std::string file = Write("good.yaml", "namespaces: {}\n");
  for (const std::string body : {"<html>It works!</html>", "{\"status\":\"ok\"}", "[]", "7", "",
                                 "{\"allowed\":1,\"charged\":\"x\",\"resources\":{},"
                                 "\"peers\":null,\"version\":\"1\"}"}) {
    for (const std::string status : {"200 OK", "404 Not Found", "503 Away"}) {
      const FakeServer server(HttpAnswerOf(body, status));
      for (const std::vector<std::string>& command :
           std::vector<std::vector<std::string>>{{"request", "a", "b", "c"},
                                                 {"request", "--json", "a", "b", "c"},
                                                 {"peek", "a", "b", "c"},
                                                 {"settle", std::string(32, '1'), "1"},
                                                 {"settle", "--json", std::string(32, '1'), "1"},
                                                 {"config", "export"},
                                                 {"config", "export", "--format", "json"},
                                                 {"config", "import", file},
                                                 {"config", "diff", file},
                                                 {"cluster", "status"},
                                                 {"cluster", "status", "--json"},
                                                 {"top", "--once"},
                                                 {"top", "--once", "--json"},
                                                 {"top", "--once", "a", "b"}}) {
        std::vector<std::string> all = command;
        all.insert(all.end(), {"--server", server.address(), "--deadline", "5s"});
        const Ran ran = Expect(all);
        const std::string what = command[0] + " of " + status + " " + body + ": " + ran.errors;
        EXPECT_EQ(ran.exit_code, 2) << what;
        EXPECT_EQ(ran.out, "") << what;
        EXPECT_NE(ran.errors.find("Weir server"), std::string::npos) << what;
        EXPECT_NE(ran.errors.find(server.address()), std::string::npos) << what;
        EXPECT_EQ(std::count(ran.errors.begin(), ran.errors.end(), '\n'), 1) << what;
      }
    }
  }
}

TEST_F(Hostile, WhatARedisFrontSaysReachesNoTerminal) {
  std::string one_line = kRaw;
  std::erase(one_line, '\n');
  std::erase(one_line, '\r');
  const std::string bulk = "$" + std::to_string(kRaw.size()) + "\r\n" + kRaw + "\r\n";
  for (const std::string& answer :
       {"-ERR " + one_line + "\r\n", kRaw + "\r\n", std::string("*1\r\n*1\r\n*1\r\n:x\r\n"),
        "*8\r\n$7\r\nallowed\r\n:0\r\n$11\r\nper_subject\r\n:1\r\n$4\r\nheld\r\n:1\r\n"
        "$6\r\ngroups\r\n*1\r\n*6\r\n$4\r\nname\r\n" +
            bulk + "$5\r\nlimit\r\n:1\r\n$4\r\nheld\r\n:1\r\n"}) {
    const FakeServer server(answer);
    const Ran ran = Expect({"reserve", "--resp", server.address(), "a", "b", kRaw, "--", "true"});
    EXPECT_TRUE(ran.exit_code == 2 || ran.exit_code == 75) << ran.exit_code;
  }
}

TEST_F(Hostile, WhatStandsInAFileReachesNoTerminal) {
  const std::string good = Rules();
  Expect({"check", good});
  Expect({"try", good}, "shop " + kAllowed + " ann\nlimits shop " + kAllowed + " \"" + kRaw +
                            "\"\nas \x1b[2J shop x y\n\x1b[2J \x9b z\nreload\nend \x1b[2J\n");
  const std::string field = "namespaces: {shop: {\"" + kSpelled + "\": 1, resources: {\"" +
                            kAllowed + "\": {limits: [{limit: \"" + kSpelled + "\", \"" + kAllowed +
                            "\": x}]}}}}\n";
  for (const std::string& text :
       {field, "namespaces: {\"" + kSpelled + "\": {}}\n", kRaw, "a: " + kRaw, kAllowed + ": 1\n",
        "namespaces: {shop: {resources: {a: {limits: [{limit: 1, per: " + kAllowed + "}]}}}}\n"}) {
    const std::string path = Write("bad.yaml", text);
    EXPECT_EQ(Expect({"check", path}).exit_code, 1);
    EXPECT_EQ(Expect({"try", path}).exit_code, 1);
    EXPECT_EQ(Expect({"config", "import", path}).exit_code, 2);
    EXPECT_EQ(Expect({"config", "diff", path}).exit_code, 2);
    const Ran painted = RunAtTerminal({WEIR_BINARY, "check", path}, "");
    EXPECT_EQ(Unsafe(painted.out, true), "");
  }
  // Names of files, and of commands.
  Expect({"check", kRaw});
  Expect({"try", kRaw});
  Expect({"try", good, "--start", kRaw});
  Expect({"config", "export", "--database", "/dev/null/" + kRaw});
  Expect({kRaw});
  Expect({"help", kRaw});
  Expect({"request", "--" + kRaw});
  Expect({"request", "--cost", kRaw, "a", "b", "c"});
  Expect({"request", "--deadline", kRaw, "a", "b", "c"});
  Expect({"request", "--server", kRaw, "a", "b", "c"});
  Expect({"reserve", "--resp", kRaw, "a", "b", "c", "--", "true"});
  Expect({"config", "export", "--format", kRaw});
}

TEST_F(Hostile, NothingReachesTheLog) {
  const std::string bad = Write("bad.yaml", "namespaces: {\"" + kSpelled + "\": {}}\n");
  const std::string tokens = Write("tokens", "one " + kAllowed + " \x1b[2J\n");
  const FakeServer config(HttpAnswerOf(kRaw, "500 " + kAllowed));
  const FakeServer lying(
      HttpAnswerOf("{\"version\":1,\"full\":true,\"changes\":[{\"namespace\":\"" + kSpelled +
                   "\",\"value\":{}}]}"));
  const std::vector<std::vector<std::string>> starts = {
      {"--config", bad},
      {"--config", "/dev/null/" + kRaw},
      {"--ratelimit-config", "/dev/null/" + kRaw},
      {"--database", "/dev/null/" + kRaw},
      {"--data", "/dev/null/" + kRaw},
      {"--token-file", tokens},
      {"--token-file", kRaw},
      {"--trusted-hops", kRaw},
      {"--http", kRaw + ":80"},
      {"--tls-cert", kRaw, "--tls-key", kRaw},
      {"--node", kRaw, "--cluster", "127.0.0.1:0", "--cluster-key-file", kRaw},
      {"--role", "limiter", "--config-from", kRaw},
      {"--role", "limiter", "--config-from", config.address()},
      {"--role", "limiter", "--config-from", lying.address()},
  };
  for (const std::vector<std::string>& arguments : starts) {
    for (const bool json : {false, true}) {
      std::vector<std::string> all = arguments;
      if (json) all.emplace_back("--log-json");
      ServerProcess server(all);
      server.Signal(15);
      server.WaitForEnd();
      EXPECT_NE(server.log(), "") << arguments[0];
      EXPECT_EQ(Unsafe(server.log()), "") << arguments[0];
    }
  }
}

TEST_F(Hostile, RequestsAreNotLoggedAsTheyAre) {
  ServerProcess server({"--config", Rules(), "--log-level", "debug"});
  e2e::HttpGet(server.port("http"), "/" + kRaw);
  e2e::HttpGet(server.port("http"), "/v1/stats?namespace=%1b%5b2J");
  e2e::Socket(server.port("resp")).Send("*1\r\n$4\r\n\x1b[2J\r\n");
  e2e::Socket(server.port("grpc")).Send(kRaw);
  Write("rules.yaml", "namespaces: {\"" + kSpelled + "\": {}}\n");  // read at once
  EXPECT_TRUE(server.WaitForLog("the old rules stay"));
  server.Signal(15);
  server.WaitForEnd();
  EXPECT_EQ(Unsafe(server.log()), "");
}

}  // namespace
}  // namespace weir::hostile_test

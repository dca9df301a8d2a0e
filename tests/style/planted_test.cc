// Shows that each style check can fail, and that it spares what is right.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/style/folder_cycles.h"
#include "tests/style/forbidden_calls.h"
#include "tests/style/include_arrows.h"
#include "tests/style/kept_instants.h"
#include "tests/style/layout.h"
#include "tests/style/source_file.h"

namespace weir::style::planted_test {
namespace {

size_t IncludeFaults(const std::string& path, const std::string& included) {
  return CheckIncludes({path, "#include " + included + "\n"}).size();
}

size_t CallFaults(const std::string& path, const std::string& code) {
  return CheckForbiddenCalls({path, code}).size();
}

TEST(Planted, ArrowsOfTheMapAreAllowed) {
  EXPECT_EQ(IncludeFaults("src/algorithms/a.cc", "\"base/random.h\""), 0u);
  EXPECT_EQ(IncludeFaults("src/limiter/a.cc", "\"algorithms/limit.h\""), 0u);
  EXPECT_EQ(IncludeFaults("src/server/a.cc", "\"base/random.h\""), 0u);
  EXPECT_EQ(IncludeFaults("src/server/a.cc", "\"cluster/net/udp.h\""), 0u);
  EXPECT_EQ(IncludeFaults("src/cluster/a.cc", "\"replication/debt.h\""), 0u);
  EXPECT_EQ(IncludeFaults("src/packet/a.cc", "\"allocation/fps.h\""), 0u);
  EXPECT_EQ(IncludeFaults("lab/a.cc", "\"cluster/node.h\""), 0u);
  EXPECT_EQ(IncludeFaults("src/base/a.cc", "\"weir/instant.h\""), 0u);
  EXPECT_EQ(IncludeFaults("src/base/a.cc", "\"absl/time/time.h\""), 0u);
  EXPECT_EQ(IncludeFaults("tests/limiter/a_test.cc", "\"fronts/http/parser.h\""), 0u);
}

TEST(Planted, WrongArrowsAreFound) {
  EXPECT_EQ(IncludeFaults("src/base/a.cc", "\"algorithms/limit.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/algorithms/a.h", "\"rules/rulebook.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/rules/a.h", "\"store/store.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/store/a.h", "\"rules/rulebook.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/limiter/a.h", "\"fronts/http/parser.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/limiter/a.h", "\"server/settings.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/fronts/http/a.h", "\"cluster/node.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/config/a.h", "\"limiter/holds.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/replication/a.h", "\"store/store.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/allocation/a.h", "\"replication/debt.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/packet/a.h", "\"cluster/node.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/server/a.h", "\"lab/scheduler.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/server/a.h", "\"tests/style/layout.h\""), 1u);
}

TEST(Planted, OnlyServerIncludesTheSocketsOfTheCluster) {
  EXPECT_EQ(IncludeFaults("src/cluster/a.cc", "\"cluster/net/udp.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/fronts/http/a.cc", "\"cluster/net/udp.h\""), 1u);
  EXPECT_EQ(IncludeFaults("lab/a.cc", "\"cluster/net/udp.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/cluster/net/a.cc", "\"cluster/transport.h\""), 0u);
}

TEST(Planted, TheLabHasNoFrontsAndNoSockets) {
  EXPECT_EQ(IncludeFaults("lab/a.cc", "\"fronts/resp/codec.h\""), 1u);
  EXPECT_EQ(IncludeFaults("lab/a.cc", "<sys/socket.h>"), 1u);
  EXPECT_EQ(IncludeFaults("lab/oracle/a.cc", "<netinet/in.h>"), 1u);
  EXPECT_EQ(IncludeFaults("lab/live/a.cc", "<sys/socket.h>"), 0u);
  EXPECT_EQ(IncludeFaults("src/replication/a.cc", "<sys/socket.h>"), 1u);
  EXPECT_EQ(IncludeFaults("src/server/a.cc", "<sys/socket.h>"), 0u);
}

TEST(Planted, PublicHeadersIncludeNothingPrivate) {
  EXPECT_EQ(IncludeFaults("include/weir/a.h", "\"base/random.h\""), 1u);
  EXPECT_EQ(IncludeFaults("include/weir/a.h", "\"weir/instant.h\""), 0u);
  EXPECT_EQ(IncludeFaults("examples/a.cc", "\"limiter/limiter.h\""), 1u);
  EXPECT_EQ(IncludeFaults("examples/a.cc", "\"weir/limiter.h\""), 0u);
}

TEST(Planted, OutputPastTheTerminalIsFound) {
  for (const char* code : {"std::cout << name;", "std::cerr << name;", "fmt::print(\"{}\", name);",
                           "printf(\"%s\", name);", "std::fputs(name, stderr);"}) {
    EXPECT_EQ(CallFaults("src/cli/a.cc", code), 1u) << code;
    EXPECT_EQ(CallFaults("src/limiter/a.cc", code), 1u) << code;
    EXPECT_EQ(CallFaults("src/cli/main.cc", code), 0u) << code;
  }
  EXPECT_EQ(CallFaults("src/cli/a.cc", "out.Print(\"{}\", name);"), 0u);
  EXPECT_EQ(CallFaults("src/cli/a.cc", "std::snprintf(text, 9, \"%d\", 1);"), 0u);
}

TEST(Planted, PlacesOffTheMapAreFound) {
  EXPECT_EQ(IncludeFaults("src/misc/a.cc", "<vector>"), 1u);
  EXPECT_EQ(IncludeFaults("src/limiter/a.cc", "\"holds.h\""), 1u);
  EXPECT_EQ(IncludeFaults("src/limiter/a.cc", "\"utils/holds.h\""), 1u);
}

TEST(Planted, ForbiddenCallsAreFound) {
  const std::string path = "src/limiter/a.cc";
  EXPECT_EQ(CallFaults(path, "auto t = Clock::now();"), 1u);
  EXPECT_EQ(CallFaults(path, "auto t = absl::Now();"), 1u);
  EXPECT_EQ(CallFaults(path, "using C = std::chrono::system_clock;"), 1u);
  EXPECT_EQ(CallFaults(path, "clock_gettime(CLOCK_REALTIME, &t);"), 1u);
  EXPECT_EQ(CallFaults(path, "long t = time(nullptr);"), 1u);
  EXPECT_EQ(CallFaults(path, "int x = rand();"), 1u);
  EXPECT_EQ(CallFaults(path, "srandom(3);"), 1u);
  EXPECT_EQ(CallFaults(path, "std::random_device d;"), 1u);
  EXPECT_EQ(CallFaults(path, "std::this_thread::sleep_for(a);"), 1u);
  EXPECT_EQ(CallFaults(path, "usleep(3);"), 1u);
  EXPECT_EQ(CallFaults(path, "const char* v = std::getenv(\"A\");"), 1u);
  EXPECT_EQ(CallFaults("src/base/hash.cc", "std::random_device d;"), 1u);
  EXPECT_EQ(CallFaults("lab/a.cc", "std::random_device d;"), 1u);
}

TEST(Planted, StringsThatOnlyLookEmptiedAreFound) {
  for (const char* path : {"src/server/a.cc", "src/fronts/a.cc", "lab/a.cc"}) {
    EXPECT_EQ(CallFaults(path, "text = std::string();"), 1u);
    EXPECT_EQ(CallFaults(path, "call.in = std::string();"), 1u);
    EXPECT_EQ(CallFaults(path, "std::string().swap(text);"), 0u);
    EXPECT_EQ(CallFaults(path, "return std::string();"), 0u);
  }
}

TEST(Planted, ExemptionsAreNarrow) {
  EXPECT_EQ(CallFaults("src/base/clock.cc", "clock_gettime(CLOCK_REALTIME, &t);"), 0u);
  EXPECT_EQ(CallFaults("src/base/clock.cc", "std::getenv(name);"), 1u);
  EXPECT_EQ(CallFaults("src/base/clock.cc.cc", "clock_gettime(CLOCK_REALTIME, &t);"), 1u);
  EXPECT_EQ(CallFaults("src/server/settings.cc", "std::getenv(name);"), 0u);
  EXPECT_EQ(CallFaults("tests/store/a_test.cc", "std::getenv(name);"), 0u);
  EXPECT_EQ(CallFaults("tests/store/a_test.cc", "sleep(1);"), 1u);
}

TEST(Planted, WordsInCommentsStringsAndNamesAreSpared) {
  const std::string path = "src/limiter/a.cc";
  EXPECT_EQ(CallFaults(path, "// has no now()\n/* rand()\n getenv */ int a;"), 0u);
  EXPECT_EQ(CallFaults(path, "const char* s = \"now() \\\" rand()\"; char c = '\"';"), 0u);
  EXPECT_EQ(CallFaults(path, "auto s = R\"x(now() \" )\" )x\";"), 0u);
  EXPECT_EQ(CallFaults(path, "int brand(); Instant Decide(Instant now); operand(3);"), 0u);
  EXPECT_EQ(CallFaults(path, "Random random(seed);"), 0u);
  EXPECT_EQ(CallFaults(path, "int n = 1'000'000; rand();"), 1u);
}

size_t InstantFaults(const std::string& code, const std::string& path = "src/fronts/a.cc") {
  return CheckKeptInstants({path, code}).size();
}

TEST(Planted, InstantsThatOutliveTheirTurnAreFound) {
  EXPECT_EQ(InstantFaults("Do([this, now](int) { End(now); });"), 1u);
  EXPECT_EQ(InstantFaults("Do([&now](int) { End(now); });"), 1u);
  EXPECT_EQ(InstantFaults("Do([&limiter, asked = http.now](int) {});"), 1u);
  EXPECT_EQ(InstantFaults("Do([at = now.at()] { End(at); });"), 1u);
  EXPECT_EQ(InstantFaults("Do([number = 1,\n    at = Instant(turn)]() mutable {});"), 1u);
  EXPECT_EQ(InstantFaults("link.Post([&](const Turn&) { End(now); });"), 1u);
  EXPECT_EQ(InstantFaults("struct A { Instant since; };"), 1u);
  EXPECT_EQ(InstantFaults("struct A { Instant since_{}; };"), 1u);
  EXPECT_EQ(InstantFaults("std::optional<Instant> since;"), 1u);
  EXPECT_EQ(InstantFaults("const Instant at = now;"), 1u);
  EXPECT_EQ(InstantFaults("Decide(clock_.Now());"), 1u);
  EXPECT_EQ(InstantFaults("const Turn now(loop.clock());") + InstantFaults("Decide(Turn(clock_));"),
            2u);
  EXPECT_EQ(InstantFaults("Decide(clock->Now());", "src/server/routes/stats_route.cc"), 1u);
}

TEST(Planted, InstantsOfTheTurnAreSpared) {
  EXPECT_EQ(InstantFaults("Do([&](int) { limiter.End(now); });"), 0u);
  EXPECT_EQ(InstantFaults("Do([this, known = 1](int, const Turn& now) { End(now); });"), 0u);
  EXPECT_EQ(InstantFaults("void Walk(std::string_view in, Instant now);"), 0u);
  EXPECT_EQ(InstantFaults("int a[] = {1}; rows[now] = 2;"), 0u);
  EXPECT_EQ(InstantFaults("Instant at = now;", "src/limiter/a.cc"), 0u);
  EXPECT_EQ(InstantFaults("Instant begun{};", "src/fronts/grpc/grpc_call.h"), 0u);
}

TEST(Planted, GuardsAreFoundMissing) {
  EXPECT_TRUE(CheckGuard({"src/a.h", "// Essay.\n#pragma once\nint a;\n"}).empty());
  EXPECT_EQ(CheckGuard({"src/a.h", "// Essay.\n#ifndef A_H_\n#define A_H_\n"}).size(), 1u);
  EXPECT_EQ(CheckGuard({"src/a.h", "#include <a>\n#pragma once\n"}).size(), 1u);
  EXPECT_EQ(CheckGuard({"src/a.h", ""}).size(), 1u);
  EXPECT_TRUE(CheckGuard({"src/a.cc", "int a;\n"}).empty());
}

TEST(Planted, RemindersAreFound) {
  EXPECT_EQ(CheckLeftovers({"a.cc",
                            "int a;\n// TO"
                            "DO: b\n"})[0]
                .line,
            2);
  EXPECT_EQ(CheckLeftovers({"a.md",
                            "FIX"
                            "ME"})
                .size(),
            1u);
  EXPECT_TRUE(CheckLeftovers({"a.cc", "// what is to do\n"}).empty());
}

TEST(Planted, LongFilesAreFound) {
  EXPECT_EQ(CheckLength({"a.cc", std::string(501, '\n')}).size(), 1u);
  EXPECT_TRUE(CheckLength({"a.cc", std::string(500, '\n')}).empty());
}

TEST(Planted, FormIsFound) {
  const std::string formatter = FindFormatter();
  if (formatter.empty()) GTEST_SKIP() << "clang-format 14 is not installed";
  const std::string root = testing::TempDir() + "weir_style_form";
  std::filesystem::create_directories(root);
  std::filesystem::copy_file(WEIR_SOURCE_DIR "/.clang-format", root + "/.clang-format",
                             std::filesystem::copy_options::overwrite_existing);
  const auto faults = [&](const std::string& text) {
    std::ofstream(root + "/a.cc") << text;
    return CheckForm(formatter, root, {"a.cc"}).size();
  };
  EXPECT_EQ(faults("int a;\n"), 0u);
  EXPECT_EQ(faults("int  a ;\n"), 1u);
  EXPECT_EQ(faults("int a;\n\n\n\nint b;\n"), 1u);
  std::filesystem::remove_all(root);
}

TEST(Planted, FoldersThatNeedEachOtherAreFound) {
  const auto file = [](std::string path, const std::string& included) {
    return SourceFile{std::move(path), "#include \"" + included + "\"\n"};
  };
  const SourceFile grpc = file("src/fronts/grpc/a.h", "fronts/envoy/b.h");
  EXPECT_TRUE(CheckFolderCycles({grpc, file("src/fronts/envoy/b.h", "fronts/codes.h")}).empty());
  const Findings two = CheckFolderCycles({grpc, file("src/fronts/envoy/b.h", "fronts/grpc/c.h")});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].what, "src/fronts/envoy needs src/fronts/grpc, which needs it");
  EXPECT_EQ(two[0].path, "src/fronts/envoy/b.h");
  const Findings three = CheckFolderCycles(
      {grpc, file("src/fronts/envoy/b.h", "net/c.h"), file("src/net/c.h", "fronts/grpc/a.h")});
  ASSERT_EQ(three.size(), 3u);
  EXPECT_EQ(three[0].what,
            "src/fronts/envoy needs src/net, which needs it by way of src/fronts/grpc");
  EXPECT_TRUE(CheckFolderCycles({file("src/server/a.h", "server/data/b.h"),
                                 file("src/server/data/b.h", "server/a.h")})
                  .empty())
      << "a room is a part of its house";
  EXPECT_TRUE(
      CheckFolderCycles({file("tests/a/a.cc", "b/b.h"), file("src/b/b.h", "tests/a/a.h")}).empty());
}

TEST(Planted, AFindingNamesFileLineAndReason) {
  const Findings findings = CheckIncludes({"src/base/a.h", "\n#include \"store/store.h\"\n"});
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].ToString(),
            "src/base/a.h:2: base may not include store (\"store/store.h\")");
}

}  // namespace
}  // namespace weir::style::planted_test

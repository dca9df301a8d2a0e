// The program that is delivered is built as one that strangers talk to.
#include <gtest/gtest.h>

#include "tests/cli/process.h"

namespace weir::hardening_test {
namespace {

std::string Readelf(const std::string& what) {
  return RunWithPipe({"/usr/bin/readelf", "-W", what, WEIR_BINARY}, "").out;
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Hardening, WhatIsLoadedCannotBeWrittenOver) {
  const std::string symbols = Readelf("--dyn-syms");
  if (symbols.empty()) GTEST_SKIP() << "there is no readelf";
  if (Has(symbols, "__asan_") || Has(symbols, "__tsan_")) GTEST_SKIP() << "sanitizers do that";
  EXPECT_TRUE(Has(Readelf("-h"), "DYN (")) << "position-independent";
  const std::string segments = Readelf("-l");
  EXPECT_TRUE(Has(segments, "GNU_RELRO"));
  EXPECT_FALSE(Has(segments, " RWE ")) << "no memory is both written and run";
  const std::string dynamic = Readelf("-d");
  EXPECT_TRUE(Has(dynamic, "BIND_NOW") || Has(dynamic, "Flags: NOW")) << dynamic;
}

TEST(Hardening, WhatOverrunsTheStackOrABufferEndsTheProcess) {
  const std::string symbols = Readelf("--dyn-syms");
  if (symbols.empty()) GTEST_SKIP() << "there is no readelf";
  if (Has(symbols, "__asan_") || Has(symbols, "__tsan_")) GTEST_SKIP() << "sanitizers do that";
  EXPECT_TRUE(Has(symbols, " __stack_chk_fail")) << "-fstack-protector-strong";
  EXPECT_TRUE(Has(symbols, "_chk@GLIBC")) << "-D_FORTIFY_SOURCE=2";
}

}  // namespace
}  // namespace weir::hardening_test

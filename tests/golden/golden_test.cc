// Holds the algorithms, and the oracle, to the golden vectors (README.md).
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "lab/oracle/golden.h"
#include "lab/oracle/implementation.h"
#include "lab/oracle/run.h"
#include "tests/golden/vectors.h"

namespace weir::oracle::golden_test {
namespace {

size_t ReplayAll(const std::string& name, const ModelMaker& make) {
  return golden::ReplayAll(name, [&](const Limit& limit) -> golden::Answerer {
    const auto session = std::make_shared<Session>(make(limit));
    return [session](const Event& event) { return session->Ask(event); };
  });
}

TEST(GoldenTest, ImplementationAnswersTheVectorsMadeByHand) {
  EXPECT_GE(ReplayAll("hand.jsonl", MakeImplementation), 30u);
}

TEST(GoldenTest, OracleAnswersTheVectorsMadeByHand) {
  EXPECT_GE(ReplayAll("hand.jsonl", MakeOracle), 30u);
}

TEST(GoldenTest, ImplementationAnswersTheOraclesVectors) {
  EXPECT_GE(ReplayAll("vectors.jsonl", MakeImplementation), 250u);
}

TEST(GoldenTest, VectorsAreThoseThatTheOraclePrints) {
  std::ifstream file(golden::PathOf("vectors.jsonl"));
  const std::string kept{std::istreambuf_iterator<char>(file), {}};
  std::ostringstream printed;
  PrintGoldenVectors(printed);
  EXPECT_TRUE(kept == printed.str()) << "weir-lab oracle --golden > tests/golden/vectors.jsonl";
}

}  // namespace
}  // namespace weir::oracle::golden_test

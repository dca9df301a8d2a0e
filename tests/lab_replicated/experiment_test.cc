// The experiments: their traffic, that they repeat, and what can be set.
#include <gtest/gtest.h>

#include "lab/replicated/experiment.h"
#include "lab/replicated/report/table.h"
#include "lab/replicated/spotify.h"
#include "lab/replicated/variants.h"

namespace weir::lab::experiment_test {
namespace {

using namespace std::chrono_literals;

const Progress kSilent = [](const std::string&, double) {};

ExperimentOptions Small(const std::string& name) {
  ExperimentOptions options{.name = name, .runs = 2};
  for (const char* set : {"nodes=5", "capacity=50", "quiet=5s"}) options.settings.Set(set);
  return options;
}

TEST(Generators, SendAsManyAsTheThesisSays) {
  EXPECT_EQ(MakeSpotify("spotify-b-extreme", 1000, 1).requests.size(), 21'500u);
  EXPECT_EQ(MakeSpotify("spotify-b-substantial", 1000, 1).requests.size(), 3'200u);
  EXPECT_EQ(MakeSpotify("spotify-b-barely", 1000, 1).requests.size(), 1'100u);
  EXPECT_EQ(MakeSpotify("spotify-b-barely-bursty", 1000, 7).requests.size(), 1'100u);
  EXPECT_NEAR(static_cast<double>(MakeSpotify("spotify-a", 1000, 1).requests.size()), 68'300, 10);
  EXPECT_EQ(MakeSpotify("spotify-d", 1000, 1).requests.size(), 112u);
  EXPECT_THROW(MakeSpotify("spotify-z", 1000, 1), std::invalid_argument);
}

TEST(Generators, KeepToTheTimeAndTheOrder) {
  for (const auto& described : SpotifyDescriptions()) {
    const SpotifyExperiment made = MakeSpotify(described.name, 100, 3);
    ASSERT_FALSE(made.requests.empty()) << described.name;
    const Duration length = made.requests.back().at - made.requests.front().at;
    EXPECT_LE(length, described.name == "spotify-c"         ? Duration(1h)
                      : described.name == "spotify-a"       ? Duration(5min)
                      : described.name == "spotify-b-under" ? Duration(2min)
                                                            : Duration(100s))
        << described.name;
    for (size_t i = 1; i < made.requests.size(); ++i) {
      ASSERT_LE(made.requests[i - 1].at, made.requests[i].at) << described.name;
    }
  }
}

TEST(Generators, UnderIsSlowerThanTheRefillAndDFaster) {
  const SpotifyExperiment under = MakeSpotify("spotify-b-under", 1000, 1);
  EXPECT_GT(under.requests[1].at - under.requests[0].at, 1s);
  const SpotifyExperiment d = MakeSpotify("spotify-d-900", 1000, 1);
  EXPECT_EQ(d.requests[1].at - d.requests[0].at, 900ms);
  EXPECT_EQ(d.interval, 900ms);
  EXPECT_EQ(d.limit.capacity, 5u);
}

TEST(Experiment, TheSameSeedGivesTheSameBytes) {
  const std::string one = AsJson(RunExperiment(Small("spotify-b-substantial"), kSilent));
  EXPECT_EQ(one, AsJson(RunExperiment(Small("spotify-b-substantial"), kSilent)));
  ExperimentOptions other = Small("spotify-b-substantial");
  other.seed = 77;
  EXPECT_NE(one, AsJson(RunExperiment(other, kSilent)));
}

TEST(Experiment, EveryVariantHasEveryMetric) {
  const ExperimentResult result = RunExperiment(Small("spotify-d"), kSilent);
  ASSERT_EQ(result.variants.size(), 9u);
  for (const VariantResult& variant : result.variants) {
    for (const char* metric : {"precision", "wrongful_refusals", "over_admission_max", "bytes_sent",
                               "memory_peak_bytes", "memory_mean_bytes", "converge_s"}) {
      EXPECT_NE(variant.Find(metric), nullptr) << variant.variant << " " << metric;
    }
    double received = 0;
    for (const Step& step : variant.steps) received += step.received;
    EXPECT_NEAR(received, 112, 1e-6);
  }
  EXPECT_EQ(result.Find("debt")->Find("refusals_off_central")->value, 0);
}

TEST(Experiment, ThreeIntervalsAreOneExperimentUnlessOneIsSet) {
  Settings settings;
  EXPECT_EQ(ExperimentsNamed("spotify-d", settings).size(), 3u);
  EXPECT_EQ(ExperimentsNamed("spotify-d-450", settings).size(), 1u);
  EXPECT_EQ(ExperimentsNamed("all", settings).size(), SpotifyDescriptions().size());
  settings.Set("interval=200ms");
  EXPECT_EQ(ExperimentsNamed("spotify-d", settings).size(), 1u);
  EXPECT_THROW(ExperimentsNamed("nothing", settings), std::invalid_argument);
}

TEST(Experiment, EqualBirthsAreFreeOnlyWhereThatIsAsked) {
  ExperimentOptions options = Small("spotify-b-extreme");
  options.settings.Set("variants=queue");
  const ExperimentResult named = RunExperiment(options, kSilent);
  options.settings.Set("births=100ms");
  const ExperimentResult merged = RunExperiment(options, kSilent);
  EXPECT_LT(merged.Find("queue")->Find("precision")->value,
            named.Find("queue")->Find("precision")->value);
}

std::string ErrorOf(const std::string& set) {
  try {
    Settings().Set(set);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "none";
}

TEST(Settings, AreReadByName) {
  Settings settings;
  for (const char* set : {"nodes=7", "latency=2ms", "jitter=1.5ms", "loss=0.25", "margin=2s",
                          "patience=3s", "variants=debt,counter"}) {
    settings.Set(set);
  }
  EXPECT_EQ(settings.nodes, 7u);
  EXPECT_EQ(settings.network.latency, 2ms);
  EXPECT_EQ(settings.network.jitter, 1500us);
  EXPECT_EQ(settings.network.loss, 0.25);
  EXPECT_EQ(settings.margin, 2s);
  EXPECT_EQ(settings.debt.patience, 3s);
  EXPECT_EQ(settings.variants, (std::vector<std::string>{"debt", "counter"}));
}

TEST(Settings, AnErrorSaysWhatThereIs) {
  EXPECT_NE(ErrorOf("bogus=1").find("no such key; the keys are nodes, capacity, interval"),
            std::string::npos);
  EXPECT_NE(ErrorOf("nodes").find("expected key=value"), std::string::npos);
  EXPECT_EQ(ErrorOf("nodes=0"), "--set nodes: '0' is not a number from 1 to 1000");
  EXPECT_EQ(ErrorOf("loss=2"), "--set loss: '2' is not a number from 0 to 1");
  EXPECT_EQ(ErrorOf("latency=5"), "--set latency: '5' is not a duration such as 300ms, 2s or 1m");
  Settings settings;
  settings.Set("variants=debit");
  EXPECT_THROW(VariantsFor(MakeSpotify("spotify-d", 5, 1), settings, 1), std::invalid_argument);
}

}  // namespace
}  // namespace weir::lab::experiment_test

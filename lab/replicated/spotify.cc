#include "lab/replicated/spotify.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/random.h"

namespace weir::lab {
namespace {

constexpr Instant kStart = FromNanos(1'800'000'000'000'000'000);
using std::chrono::milliseconds;
using std::chrono::seconds;

// `count` requests at random times.
void AddRandom(uint32_t user, uint64_t count, Duration length, Random& random,
               std::vector<SimulatedRequest>& out) {
  for (uint64_t i = 0; i < count; ++i) {
    const auto at = random.Below(static_cast<uint64_t>(length.count()));
    out.push_back({kStart + Duration(static_cast<int64_t>(at)), user, 1});
  }
}

void AddRegular(uint32_t user, Duration gap, Duration length, std::vector<SimulatedRequest>& out) {
  for (Duration at{}; at < length; at += gap) out.push_back({kStart + at, user, 1});
}

// `count` requests in bursts of up to a second, at random times.
void AddBursts(uint32_t user, uint64_t count, Duration length, Random& random,
               std::vector<SimulatedRequest>& out) {
  const uint64_t bursts = 5 + random.Below(11);
  for (uint64_t i = 0; i < bursts; ++i) {
    const uint64_t part = count * (i + 1) / bursts - count * i / bursts;
    const Duration burst = milliseconds(500 + random.Below(501));
    const auto from = Duration(random.Below(static_cast<uint64_t>((length - burst).count())));
    const size_t first = out.size();
    AddRandom(user, part, burst, random, out);
    for (size_t j = first; j < out.size(); ++j) out[j].at += from;
  }
}

uint64_t Times(double factor, uint64_t capacity) {
  return static_cast<uint64_t>(std::llround(factor * static_cast<double>(capacity)));
}

double Normal(Random& random) {
  constexpr double kTwoPi = 6.283185307179586;
  return std::sqrt(-2 * std::log(1 - random.Unit())) * std::cos(kTwoPi * random.Unit());
}

void AddTenUsers(uint64_t capacity, Random& random, std::vector<SimulatedRequest>& out) {
  double sum = 0;
  for (int i = 1; i <= 10; ++i) sum += 1.0 / i;
  for (uint32_t i = 1; i <= 10; ++i) {
    AddRandom(i, Times(68.3 / i / sum, capacity), seconds(300), random, out);
  }
}

void AddManyUsers(Random& random, std::vector<SimulatedRequest>& out) {
  constexpr Duration kHour = std::chrono::hours(1);
  for (uint32_t user = 0; user < 5000; ++user) {
    // The median user asks 20 times in the hour; one in a hundred, some thousand times.
    const double mean = 20 * std::exp(1.8 * Normal(random));
    AddRandom(user, static_cast<uint64_t>(std::min(mean, 3600.0)), kHour, random, out);
  }
}

}  // namespace

const std::vector<SpotifyDescription>& SpotifyDescriptions() {
  static const std::vector<SpotifyDescription> all = {
      {"spotify-a", "10 users, 5 minutes, 68.3 c requests", "40 s"},
      {"spotify-b-extreme", "one user, a minute, 21.5 c requests", "3 s"},
      {"spotify-b-substantial", "one user, a minute, 3.2 c requests", "2 s"},
      {"spotify-b-barely", "one user, a minute, 1.1 c requests", "2 s"},
      {"spotify-b-barely-bursty", "one user, a minute, 1.1 c requests in 5 to 15 bursts", "2 s"},
      {"spotify-b-under", "one user just below the refill rate, 2 minutes", "0.2 s"},
      {"spotify-c", "5000 users, an hour, a realistic mix", "3 to 4 min", 1},
      {"spotify-d", "c = 5, a request every 0.9 s, 1 token/s; gossip every 300 ms",
       "0.7 s, with the two below"},
      {"spotify-d-450", "as spotify-d, but gossip every 450 ms", "0.3 s"},
      {"spotify-d-900", "as spotify-d, but gossip every 900 ms", "0.2 s"},
  };
  return all;
}

SpotifyExperiment MakeSpotify(const std::string& name, uint64_t capacity, uint64_t seed) {
  SpotifyExperiment made;
  made.name = name;
  // 0.001 c flow in per second.
  made.limit = {capacity, capacity, seconds(1000)};
  Random random(seed);
  auto& out = made.requests;
  if (name == "spotify-a") {
    AddTenUsers(capacity, random, out);
  } else if (name == "spotify-b-extreme") {
    AddRandom(1, Times(21.5, capacity), seconds(60), random, out);
  } else if (name == "spotify-b-substantial") {
    AddRandom(1, Times(3.2, capacity), seconds(60), random, out);
  } else if (name == "spotify-b-barely") {
    AddRandom(1, Times(1.1, capacity), seconds(60), random, out);
  } else if (name == "spotify-b-barely-bursty") {
    AddBursts(1, Times(1.1, capacity), seconds(60), random, out);
  } else if (name == "spotify-b-under") {
    AddRegular(1, made.limit.per / static_cast<int64_t>(capacity) * 51 / 50, seconds(120), out);
  } else if (name == "spotify-c") {
    AddManyUsers(random, out);
  } else if (name.starts_with("spotify-d")) {
    made.limit = {5, 1, seconds(1)};
    if (name == "spotify-d-450") made.interval = milliseconds(450);
    if (name == "spotify-d-900") made.interval = milliseconds(900);
    AddRegular(1, milliseconds(900), seconds(100), out);
  } else {
    throw std::invalid_argument("there is no experiment '" + name +
                                "'; 'weir-lab list' lists them");
  }
  std::sort(out.begin(), out.end(), [](const SimulatedRequest& a, const SimulatedRequest& b) {
    return std::tie(a.at, a.user) < std::tie(b.at, b.user);
  });
  return made;
}

}  // namespace weir::lab

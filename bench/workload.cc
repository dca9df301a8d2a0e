#include "bench/workload.h"

#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/random.h"

namespace weir::bench {

Names::Names(size_t count) : bytes_(count * kLength) {
  for (size_t i = 0; i < count; ++i) {
    char name[kLength + 1];
    std::snprintf(name, sizeof(name), "user-%020llu", static_cast<unsigned long long>(i) * 7919);
    std::memcpy(bytes_.data() + i * kLength, name, kLength);
  }
}

std::string_view NameOf(Popularity popularity) {
  return popularity == Popularity::kUniform ? "uniform" : "zipf-0.99";
}

namespace {

// Draws ranks with probability proportional to rank^-0.99 (Gray et al., as in YCSB).
class Zipf {
 public:
  explicit Zipf(size_t n) : n_(static_cast<double>(n)) {
    for (size_t i = 1; i <= n; ++i) zeta_ += std::pow(1.0 / static_cast<double>(i), kTheta);
    eta_ = (1 - std::pow(2.0 / n_, 1 - kTheta)) / (1 - (1 + std::pow(0.5, kTheta)) / zeta_);
  }
  size_t Draw(Random& random) const {
    const double u = random.Unit(), uz = u * zeta_;
    if (uz < 1) return 0;
    if (uz < 1 + std::pow(0.5, kTheta)) return 1;
    const double rank = n_ * std::pow(eta_ * u - eta_ + 1, 1 / (1 - kTheta));
    return std::min(static_cast<size_t>(rank), static_cast<size_t>(n_) - 1);
  }

 private:
  static constexpr double kTheta = 0.99;
  double n_, zeta_ = 0, eta_ = 0;
};

}  // namespace

std::vector<uint32_t> Sequence(size_t names, Popularity popularity, size_t length, uint64_t seed) {
  Random random(seed);
  std::vector<uint32_t> sequence(length);
  if (popularity == Popularity::kUniform) {
    for (uint32_t& i : sequence) i = static_cast<uint32_t>(random.Below(names));
    return sequence;
  }
  const Zipf zipf(names);
  // Popular names lie anywhere, not side by side.
  for (uint32_t& i : sequence) {
    i = static_cast<uint32_t>(zipf.Draw(random) * 2654435761u % names);
  }
  return sequence;
}

}  // namespace weir::bench

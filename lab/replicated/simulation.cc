#include "lab/replicated/simulation.h"

#include <algorithm>

#include "lab/replicated/central_bucket.h"
#include "lab/replicated/placement.h"

namespace weir::lab {
namespace {

constexpr Duration kLookEvery = std::chrono::milliseconds(100);  // whether the nodes agree
constexpr int64_t kMostSteps = 720;

struct User {
  Key key;
  CentralBucket central, truth;
};

std::vector<User> UsersOf(const std::vector<SimulatedRequest>& requests) {
  const KeyedHash hash({1, 2});
  uint32_t last = 0;
  for (const SimulatedRequest& request : requests) last = std::max(last, request.user);
  std::vector<User> users(size_t{last} + 1);
  for (size_t i = 0; i < users.size(); ++i) users[i].key = hash(std::to_string(i));
  return users;
}

// A whole number of seconds, so that an experiment has at most kMostSteps of them.
Duration StepOf(Duration length) {
  const int64_t seconds = std::chrono::ceil<std::chrono::seconds>(length).count();
  return std::chrono::seconds(std::max<int64_t>(1, (seconds + kMostSteps - 1) / kMostSteps));
}

class Experiment {
 public:
  Experiment(const std::vector<SimulatedRequest>& requests, const MakeReplica& make,
             const SimulationOptions& options)
      : options_(options),
        start_(requests.front().at),
        end_(requests.back().at + options.quiet),
        cluster_(make, options.nodes, options.network, options.seed,
                 start_ - std::chrono::seconds(1)),
        users_(UsersOf(requests)),
        last_admission_(start_),
        look_at_(start_),
        step_ends_(start_) {
    measured_.step = StepOf(end_ - start_);
  }

  void Decide(const SimulatedRequest& request) {
    RunUntil(request.at);
    Step& step = measured_.steps.back();
    User& user = users_[request.user];
    const ReplicatedBucket& limit = options_.limit;
    measured_.requests += 1;
    step.received += 1;
    if (user.central.Fits(limit, request.cost, request.at)) {
      user.central.Charge(limit, request.cost, request.at);
    } else {
      measured_.refused_centrally += 1;
      step.refused_centrally += 1;
    }
    const uint32_t node = NodeFor(request, options_.nodes, options_.seed);
    if (cluster_.Admit(node, user.key, limit, request.cost, request.at)) {
      NoteAdmission(user, request);
    } else {
      measured_.refused += 1;
      step.refused += 1;
      NoteRefusal(user, request);
    }
  }

  Measured Finish() {
    RunUntil(end_);
    if (!measured_.steps.empty()) EndStep();
    measured_.bytes_sent = cluster_.bytes_sent();
    measured_.envelopes = cluster_.envelopes();
    measured_.memory_mean_bytes /= static_cast<double>(measured_.steps.size());
    measured_.observed_s = Seconds(end_ - last_admission_);
    return std::move(measured_);
  }

 private:
  static double Seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

  void NoteAdmission(User& user, const SimulatedRequest& request) {
    user.truth.Charge(options_.limit, request.cost, request.at);
    const uint64_t debt = user.truth.Debt(options_.limit, request.at);
    if (debt > options_.limit.capacity) {
      measured_.over_admission_max =
          std::max(measured_.over_admission_max, debt - options_.limit.capacity);
    }
    last_admission_ = request.at;
    agreed_users_ = 0;
    measured_.converge_s.reset();
  }

  void NoteRefusal(User& user, const SimulatedRequest& request) {
    const Duration travel = options_.network.latency + options_.network.jitter;
    if (!user.truth.Fits(options_.limit, request.cost, request.at)) return;
    measured_.wrongful_refusals += 1;
    if (!user.truth.Fits(options_.limit, request.cost, request.at, travel)) return;
    measured_.wrongful_lasting += 1;
  }

  void RunUntil(Instant until) {
    while (std::min(step_ends_, look_at_) <= until) {
      const Instant at = std::min(step_ends_, look_at_);
      cluster_.RunUntil(at);
      if (at == look_at_) Look();
      if (at == step_ends_) NextStep();
    }
    cluster_.RunUntil(until);
  }

  // Nodes that have just admitted cannot agree yet; whoever has agreed since does still.
  void Look() {
    const Instant now = look_at_;
    look_at_ += kLookEvery;
    if (measured_.converge_s || now - last_admission_ < kLookEvery) return;
    while (agreed_users_ < users_.size()) {
      if (!cluster_.Agree(users_[agreed_users_].key, options_.limit, now)) return;
      agreed_users_ += 1;
    }
    measured_.converge_s = Seconds(now - last_admission_);
  }

  void NextStep() {
    if (!measured_.steps.empty()) EndStep();
    if (options_.progress) options_.progress(Seconds(step_ends_ - start_) / Seconds(end_ - start_));
    measured_.steps.emplace_back();
    step_ends_ += measured_.step;
  }

  void EndStep() {
    Step& step = measured_.steps.back();
    step.bytes_sent = static_cast<double>(cluster_.bytes_sent() - bytes_before_);
    bytes_before_ = cluster_.bytes_sent();
    for (const auto& node : cluster_.nodes()) {
      const size_t bytes = node->bytes();
      measured_.memory_peak_bytes = std::max<uint64_t>(measured_.memory_peak_bytes, bytes);
      step.memory += static_cast<double>(bytes) / options_.nodes;
    }
    measured_.memory_mean_bytes += step.memory;  // the sum, until the end
  }

  const SimulationOptions& options_;
  const Instant start_, end_;
  Cluster cluster_;
  std::vector<User> users_;

  Instant last_admission_, look_at_, step_ends_;
  size_t agreed_users_ = 0;  // that many, from the first, have been seen to agree
  uint64_t bytes_before_ = 0;
  Measured measured_;
};

}  // namespace

Measured Simulate(const std::vector<SimulatedRequest>& requests, const MakeReplica& make,
                  const SimulationOptions& options) {
  if (requests.empty()) return {};
  Experiment experiment(requests, make, options);
  for (const SimulatedRequest& request : requests) experiment.Decide(request);
  return experiment.Finish();
}

}  // namespace weir::lab

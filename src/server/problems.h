// What is wrong with this server right now, for whoever runs it: /readyz, /healthz?verbose, the
// metric weir_problem and the log tell the same.
//
//   problems.Raise(ProblemKind::kDatabaseAway, "… cannot be reached: start it, or …");
//   problems.Clear(ProblemKind::kDatabaseAway);
//
// Whoever knows raises, as often as it likes: what is raised already is told once. A message says
// what is wrong and what to do, in one line and without numbers that change by themselves. Raised
// again with another message, a problem keeps its `since`.
//
// Most problems leave a server that decides, and it says that it is ready: a typo in a file must not
// take all replicas out of service at once. Only those whose traits say `stops` make it unready.
//
// From any thread. Bounded: kMostProblems at a time, and of a message as much as kMostMessage.
#pragma once

#include <spdlog/logger.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/clock.h"

namespace weir {

enum class ProblemKind {
  kNoRules,
  kJoining,
  kDraining,
  kRulesUnreadable,
  kConfigAway,
  kDatabaseAway,
  kStateNotKept,
  kCertificateUnreadable,
  kTokensUnreadable,
  kNoPeers,
  kPeerDead,
  kWrongKey,
  kNameTaken,
  kNamesDiffer,
  kPeerVersion,
  kStranger,
  kClusterKeyUnreadable,
};

struct ProblemTraits {
  std::string_view code;
  bool stops;   // not ready while it lasts
  bool logged;  // false: it is how every server begins or ends
  std::string_view what;
};

// In the order of ProblemKind.
inline constexpr std::array kProblemTraits = {
    ProblemTraits{"no_rules", true, true, "no rules were ever loaded"},
    ProblemTraits{"joining", true, false, "it asks the other nodes what they know; 2 s at most"},
    ProblemTraits{"draining", true, false, "it was told to stop"},
    ProblemTraits{"rules_unreadable", false, true,
                  "the rules as they are now have mistakes: the former ones stay in force"},
    ProblemTraits{"config_away", false, true,
                  "the server that it follows does not answer: the rules stay as they are"},
    ProblemTraits{"database_away", false, true,
                  "the database cannot be reached: the rules stay as they are"},
    ProblemTraits{
        "state_not_kept", false, true,
        "use of limits with persist cannot be written down, and would not outlive a crash"},
    ProblemTraits{"certificate_unreadable", false, true,
                  "the certificate could not be read again: the former one stays"},
    ProblemTraits{"tokens_unreadable", false, true,
                  "the token file could not be read again: the former tokens stay"},
    ProblemTraits{"no_peers", false, true, "a node of a cluster that knows of no other"},
    ProblemTraits{"peer_dead", false, true, "another node does not answer"},
    ProblemTraits{"wrong_cluster_key", false, true,
                  "somebody talks to this node with another cluster key"},
    ProblemTraits{"name_taken", false, true, "two nodes have one name"},
    ProblemTraits{"names_differ", false, true,
                  "another node names the keys of limits by another secret: they count apart"},
    ProblemTraits{"peer_version", false, true, "another node speaks another version"},
    ProblemTraits{"stranger", false, true, "somebody has the cluster key and is not on the list"},
    ProblemTraits{"cluster_key_unreadable", false, true,
                  "the cluster key file could not be read again: the former keys stay"},
};
static_assert(kProblemTraits.size() == static_cast<size_t>(ProblemKind::kClusterKeyUnreadable) + 1);

constexpr const ProblemTraits& TraitsOf(ProblemKind kind) {
  return kProblemTraits[static_cast<size_t>(kind)];
}

class Problems {
 public:
  static constexpr size_t kMostProblems = 64;
  static constexpr size_t kMostMessage = 600;

  Problems(Clock& clock, std::shared_ptr<spdlog::logger> log)
      : clock_(clock), log_(std::move(log)) {}

  // `about` tells several of a kind apart, such as the peers that are dead.
  void Raise(ProblemKind kind, std::string message, std::string_view about = "");
  // If it was raised.
  void Clear(ProblemKind kind, std::string_view about = "");

  struct Problem {
    ProblemKind kind;
    std::string about;
    std::string message;
    Instant since;
  };
  // In the order of their kinds.
  std::vector<Problem> All() const;
  // Nothing that stops it.
  bool ready() const;

 private:
  struct Entry {
    std::string message;
    Instant since;
  };
  using Name = std::pair<ProblemKind, std::string>;

  Clock& clock_;
  const std::shared_ptr<spdlog::logger> log_;

  mutable std::mutex mutex_;
  std::map<Name, Entry> entries_;  // guarded by mutex_
};

// {"ready": …, "problems": [{"code", "message", "since"}, …]}
std::string HealthJson(const Problems& problems);

}  // namespace weir

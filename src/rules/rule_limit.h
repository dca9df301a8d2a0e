// A limit as a rule sets it: an algorithm with its numbers, and everything that is said beside it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "algorithms/limit.h"
#include "base/on_failure.h"

namespace weir {

enum class Enforcement { kOn, kOff, kShadow };

// Which parts of a request have their own state.
enum class KeyPart { kNamespace, kResource, kSubject };

// How rules spell them, in the order of the enumerators.
inline constexpr std::array<std::string_view, 3> kOnFailureWords = {"allow", "deny", "local"};
inline constexpr std::array<std::string_view, 3> kEnforcementWords = {"on", "off", "shadow"};
inline constexpr std::array<std::string_view, 3> kKeyPartWords = {"namespace", "resource",
                                                                  "subject"};

struct Coordination {
  enum class Kind { kLocal, kReplicated, kDivided, kShared, kSynced, kLeased };
  Kind kind = Kind::kLocal;
  std::string variant;  // replicated: counter, queue, debt; divided: even, gtb, grd, fps, supply
  Duration interval{};  // synced
  bool operator==(const Coordination&) const = default;
};

struct RuleLimit {
  std::string name;
  // What names the states of this limit for ever, whatever its numbers and its place in the file:
  // namespace, kind of rule ("resource", "contract", "descriptor"), rule, limit. An override has
  // the identity of what it overrides.
  std::vector<std::string> identity;
  Limit limit;
  bool unlimited = false;  // never charged; of `limit` only the algorithm means something
  std::vector<KeyPart> key = {KeyPart::kSubject};  // in the order of the enumerators
  Coordination coordination;
  bool own_coordination = false;  // said beside it, and another than it would have without
  OnFailure on_failure = OnFailure::kAllow;
  bool shadow = false;
  bool persist = false;
  // These are set by the rulebook.
  bool of_tiers = false;  // burst tiers, or the hard or global limit beside them
  uint32_t index = 0;     // its place in Rulebook::all()
  std::string only_for;   // the subject whose override it belongs to; empty: it is everybody's
};

}  // namespace weir

// Whoever asks where he has no reach, and what he is told.
#pragma once

#include <string_view>

#include "weir/reach.h"

namespace weir {

inline constexpr std::string_view kNotThisNamespace =
    "this token is for other namespaces: --token-file says for which";
inline constexpr std::string_view kNoNamespace =
    "limits that requests bring with them belong to no namespace: a token for all (*) is needed";

// null: everything.
inline bool Reaches(const Reach* reach, std::string_view ns) {
  return reach == nullptr || reach->Has(ns);
}
inline bool ReachesAll(const Reach* reach) { return reach == nullptr || reach->all; }

}  // namespace weir

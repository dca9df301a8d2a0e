// Which namespaces somebody may ask about. What lies elsewhere (a ticket, a hold, a transfer) is to him as
// though it were not there.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

struct Reach {
  bool all = false;  // also what belongs to no namespace: limits that requests bring with them
  std::vector<std::string> namespaces = {};  // unless it is all

  bool Has(std::string_view ns) const {
    return all || std::find(namespaces.begin(), namespaces.end(), ns) != namespaces.end();
  }
  bool operator==(const Reach&) const = default;
};

// Of those who may everything; a null pointer to a Reach means the same.
inline const Reach kEverywhere{.all = true};
inline const Reach kNowhere{};

}  // namespace weir

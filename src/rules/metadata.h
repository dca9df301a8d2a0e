// Free-form data that a rule carries for its caller: what protobuf's Struct can hold.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace weir {

struct Metadata {
  using List = std::vector<Metadata>;
  using Map = std::vector<std::pair<std::string, Metadata>>;  // in the order of the file
  std::variant<std::monostate, bool, double, std::string, List, Map> value;
  bool operator==(const Metadata& other) const { return value == other.value; }
};

}  // namespace weir

// Free-form data that a rule carries for its caller: what protobuf's Struct can hold.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace weir {

struct MetadataMember;

struct Metadata {
  using List = std::vector<Metadata>;
  using Map = std::vector<MetadataMember>;  // in the order of the file
  std::variant<std::monostate, bool, double, std::string, List, Map> value;
};

struct MetadataMember {
  std::string key;
  Metadata value;
};

inline bool operator==(const Metadata& a, const Metadata& b);
inline bool operator==(const MetadataMember& a, const MetadataMember& b) {
  return a.key == b.key && a.value == b.value;
}
inline bool operator==(const Metadata& a, const Metadata& b) { return a.value == b.value; }

}  // namespace weir

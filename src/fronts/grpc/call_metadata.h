// The headers that a call came with and that somebody may ask for, in one piece of memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/heap_bytes.h"

namespace weir {

class CallMetadata {
 public:
  void Add(std::string_view name, std::string_view value) {
    text_.append(name).append(value);
    lengths_.push_back({static_cast<uint32_t>(name.size()), static_cast<uint32_t>(value.size())});
  }
  // The first of that name, which is in lower case. Binary ones ("…-bin") are as on the wire.
  std::optional<std::string_view> Find(std::string_view name) const {
    std::string_view rest = text_;
    for (const Lengths& lengths : lengths_) {
      if (rest.substr(0, lengths.name) == name) return rest.substr(lengths.name, lengths.value);
      rest.remove_prefix(lengths.name + lengths.value);
    }
    return std::nullopt;
  }
  size_t size() const { return lengths_.size(); }
  size_t bytes() const { return text_.capacity() + lengths_.capacity() * sizeof(Lengths); }
  void Clear() {
    const bool large = bytes() > 256;
    text_.clear();
    lengths_.clear();
    if (!large) return;
    Release(text_);
    lengths_.shrink_to_fit();
  }

 private:
  struct Lengths {
    uint32_t name, value;
  };
  std::string text_;  // name, value, name, value, …
  std::vector<Lengths> lengths_;
};

}  // namespace weir

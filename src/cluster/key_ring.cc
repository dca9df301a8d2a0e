#include "cluster/key_ring.h"

namespace weir::cluster {
namespace {

constexpr std::string_view kBlanks = " \t\r\n", kNames = "names:";

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

Error Wrong(std::string why) { return {Code::kBadRequest, std::move(why), ""}; }

}  // namespace

Result<KeyRing> KeyRing::FromText(std::string_view text) {
  KeyRing ring((std::vector<ClusterKey>()));
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = Trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;
    const bool names = line.starts_with(kNames);
    if (names) line = Trimmed(line.substr(kNames.size()));
    Result<ClusterKey> key = ClusterKey::FromText(line);
    if (!key) return key.error();
    if (names && ring.naming_) return Wrong("`names:` is there twice");
    if (names) {
      ring.naming_ = std::move(*key);
    } else {
      ring.keys_.push_back(std::move(*key));
    }
  }
  if (ring.keys_.empty()) return ClusterKey::FromText("").error();
  if (ring.keys_.size() > kMostKeys) {
    return Wrong("it has " + std::to_string(ring.keys_.size()) +
                 " keys: one that seals and one more that opens are enough");
  }
  return ring;
}

}  // namespace weir::cluster

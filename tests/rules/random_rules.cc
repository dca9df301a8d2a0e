#include "tests/rules/random_rules.h"

#include <cstdint>
#include <initializer_list>

#include "rules/text/scalar_text.h"

namespace weir {
namespace {

class Writer {
 public:
  explicit Writer(const std::function<uint64_t(uint64_t)>& dice) : dice_(dice) {}

  std::string File() {
    return "{namespaces: {" +
           Several(3, [&](uint64_t i) { return PrintScalar("ns" + Odd(i)) + ": " + Namespace(); }) +
           "}}";
  }

 private:
  bool Coin() { return dice_(2) == 0; }
  std::string Number(uint64_t below) { return std::to_string(dice_(below)); }
  std::string OneOf(std::initializer_list<const char*> words) {
    return words.begin()[dice_(words.size())];
  }
  std::string Maybe(const std::string& text) { return Coin() ? text : ""; }

  // Up to `most` of what `write` writes, told its number.
  template <typename Write>
  std::string Several(uint64_t most, Write write) {
    std::string text;
    const uint64_t count = dice_(most + 1);
    for (uint64_t i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + write(i);
    return text;
  }

  // Something to add to a name so that it is unlike others, and unlike what one expects.
  std::string Odd(uint64_t i) {
    return OneOf({"", " ", "\"", "\\", ": ", "#", " #", "é€😀", "'", "- ", "{", "%|=", "*", "&",
                  "!"}) +
           std::to_string(i);
  }

  std::string Namespace() {
    std::string text = "{unconfigured: " + OneOf({"refuse", "allow"}) +
                       ", enforcement: " + OneOf({"on", "off", "shadow"});
    const bool has_contracts = Coin();
    if (has_contracts)
      text += Maybe(", default_contract: c0") + ", contracts: {" + Contracts() + "}";
    text += ", resources: {" +
            Several(4, [&](uint64_t i) { return PrintScalar("r" + Odd(i)) + ": " + Resource(); }) +
            "}";
    return text + Maybe(", descriptors: [" + Descriptors(3) + "]") + "}";
  }

  std::string Contracts() {
    std::string text;
    for (uint64_t i = 0; i <= dice_(3); ++i) {
      text += "c" + std::to_string(i) + ": {subjects: [" + Subjects("c" + std::to_string(i)) +
              "], limits: [" + Limits(2) + "]}, ";
    }
    return text;
  }

  std::string Subjects(const std::string& prefix) {
    return Several(4, [&](uint64_t i) { return PrintScalar(prefix + Odd(i)); });
  }

  std::string Resource() {
    if (dice_(4) == 0) return Copies();
    const uint64_t count = dice_(4);
    const bool tiers = Coin();
    std::string text = "{limits: [" + LimitsExactly(count) + "]";
    if (tiers) text += ", tiers: " + Tiers(true);
    text += ", overrides: [" +
            Several(3,
                    [&](uint64_t i) {
                      return "{subject: " + PrintScalar("s" + Odd(i)) + Overridden(count) +
                             (tiers ? Maybe(", tiers: " + Tiers(false)) : "") + "}";
                    }) +
            "]";
    return text + "}";
  }

  std::string Limits(uint64_t most) { return LimitsExactly(dice_(most + 1)); }
  std::string LimitsExactly(uint64_t count) {
    std::string text;
    for (uint64_t i = 0; i < count; ++i) {
      text += "{name: l" + std::to_string(i) + ", " + Numbers() + Key() + Beside() + "}, ";
    }
    return text;
  }

  std::string Key() {
    return OneOf({"", "", ", key: [subject, resource]", ", key: [namespace, subject]"});
  }

  std::string Beside() {
    return Maybe(", shadow: " + OneOf({"true", "false"})) +
           Maybe(", on_failure: " + OneOf({"allow", "deny", "local"})) +
           Maybe(", persist: " + OneOf({"true", "false"}));
  }

  std::string Per() {
    return std::to_string(1 + dice_(1000)) + OneOf({"us", "ms", "s", "m", "h", "d"});
  }

  std::string Numbers() {
    const std::string limit = dice_(8) == 0 ? "unlimited" : Number(1'000'000);
    switch (dice_(5)) {
      case 0: {
        const std::string some = std::to_string(1 + dice_(1000));
        return "limit: " + some + ", per: " + Per() + ", burst: " + some +
               Maybe(", coordination: {divided: supply}");
      }
      case 1:
        return "algorithm: fixed_window, limit: " + limit + ", per: " + Per() +
               OneOf({"", ", anchor: epoch", ", anchor: first_request"}) +
               Maybe(", coordination: leased");
      case 2:
        return "algorithm: fixed_window, limit: " + limit +
               ", anchor: calendar, per: " + OneOf({"1d", "1w", "1mo", "1y"}) +
               Maybe(", time_zone: Asia/Tokyo");
      case 3:
        return "algorithm: sliding_log, limit: " + limit + ", per: " + Per() +
               Maybe(", keep_rejected: true") + Maybe(", coordination: {replicated: queue}");
      default:
        return "algorithm: sliding_window, limit: " + limit + ", per: " + Per() +
               Maybe(", slices: " + std::to_string(1 + dice_(100))) +
               Maybe(", edge: " + OneOf({"drop", "weighted", "strict"})) +
               Maybe(", coordination: {synced: 1s}");
    }
  }

  std::string Overridden(uint64_t limits) {
    if (limits == 0) return "";
    const std::string name = "name: l" + std::to_string(dice_(limits));
    if (Coin()) return ", limits: [{" + name + ", " + Whole() + Beside() + "}]";
    return ", limits: [{" + name + OneOf({"", ", limit: 0", ", limit: unlimited"}) + Beside() +
           "}]";
  }

  // Numbers that fit whatever they are laid over.
  std::string Whole() {
    return "coordination: local, limit: " + std::to_string(1 + dice_(100)) +
           ", per: 1d, algorithm: " +
           OneOf({"token_bucket", "fixed_window, anchor: epoch", "sliding_log",
                  "sliding_window, slices: 7"});
  }

  std::string Tiers(bool whole) {
    std::string text = "{" + Maybe("hard_limit: " + Number(1000) + ", ");
    if (whole) {
      text += Maybe("global_limit: " + Number(1000) + ", ") +
              Maybe("coordination: shared, persist: true, ");
    }
    return text + "tiers: [" +
           Several(4,
                   [&](uint64_t) {
                     return "{limit: " + Number(100) + ", window: " + Per() +
                            ", active: " + Number(99) + "m, cooldown: " + Number(99) +
                            "h, skippable: " + OneOf({"true", "false"}) + "}";
                   }) +
           "]}";
  }

  std::string Copies() {
    const std::string groups = Several(3, [&](uint64_t i) {
      return "{name: " + PrintScalar("g" + Odd(i)) + ", limit: " + Number(100) + ", " +
             (i == 0 && Coin() ? "others: true" : "subjects: [" + Subjects("s") + "]") + "}";
    });
    return "{copies: {per_subject: " + OneOf({"unlimited", "0", "7", "99"}) +
           Maybe(", total: " + Number(100)) + Maybe(", shadow: true, coordination: shared") +
           ", groups: [" + groups + "]}, overrides: [" +
           Several(3,
                   [&](uint64_t i) {
                     return "{subject: " + PrintScalar("s" + Odd(i)) +
                            ", copies: {per_subject: " + Number(100) + "}}";
                   }) +
           "]}";
  }

  std::string Descriptors(uint64_t depth) {
    return Several(4, [&](uint64_t i) {
      std::string text = "{key: " + PrintScalar("k" + Odd(i));
      const bool pattern = Coin();
      text += pattern ? ", value: \"" + std::to_string(i) + "*\"" + Maybe(", share_threshold: true")
                      : Maybe(", value: " + PrintScalar("v" + Odd(i)));
      text += Maybe(", shadow_mode: true") + Maybe(", quota_mode: true") +
              Maybe(", detailed_metric: true") + Maybe(", value_to_metric: true") +
              Maybe(", metadata: {a: [1, -2.5, 1e30, true, ~, \"x: y\", {b: no}], \"#\": {}}");
      text += RateLimit();
      return text + (depth > 0 ? Maybe(", descriptors: [" + Descriptors(depth - 1) + "]") : "") +
             "}";
    });
  }

  std::string RateLimit() {
    const std::string name = Maybe("name: " + PrintScalar("n" + Odd(0)) + ", ");
    const std::string replaces = Maybe(", replaces: [{name: other}, {name: \"an other\"}]");
    switch (dice_(6)) {
      case 0: return "";
      case 1: return ", rate_limit: {" + name + "unlimited: true" + replaces + "}";
      case 2: return ", weir: {" + Numbers() + Maybe(", persist: true") + "}";
      case 3: return ", rate_limit: {name: x" + replaces + "}, weir: {" + Numbers() + "}";
      default:
        return ", rate_limit: {" + name + "unit: " + OneOf({"second", "MONTH", "week", "Year"}) +
               ", requests_per_unit: " + Number(1000) + replaces + "}" +
               OneOf({"", "", ", weir: {algorithm: sliding_log}", ", weir: {on_failure: deny}"});
    }
  }

  const std::function<uint64_t(uint64_t)>& dice_;
};

}  // namespace

std::string RandomRules(const std::function<uint64_t(uint64_t)>& dice) {
  return Writer(dice).File();
}

}  // namespace weir

#include "lab/replicated/settings.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <functional>
#include <stdexcept>

namespace weir::lab {
namespace {

[[noreturn]] void Reject(const std::string& what) { throw std::invalid_argument(what); }

// The whole text as a number from `low` to `high`.
template <typename Number>
Number Parse(std::string_view text, Number low, Number high) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !(number >= low) || !(number <= high)) {
    Reject(fmt::format("'{}' is not a number from {} to {}", text, low, high));
  }
  return number;
}

Duration AtLeast(Duration least, std::string_view text) {
  const Duration duration = ParseDuration(text);
  if (duration < least) Reject(fmt::format("'{}' is too short", text));
  return duration;
}

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    if (comma > 0) parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

struct Setting {
  std::string key, meaning;
  std::function<void(Settings&, std::string_view)> set;
};

constexpr Duration kSome{1};

const std::vector<Setting>& All() {
  static const std::vector<Setting> all = {
      {"nodes", "in the cluster; 30",
       [](Settings& s, auto text) { s.nodes = Parse<uint32_t>(text, 1, 1000); }},
      {"capacity", "of a bucket, the thesis' c; 1000 (spotify-d: always 5)",
       [](Settings& s, auto text) { s.capacity = Parse<uint64_t>(text, 1, uint64_t{1} << 40); }},
      {"interval", "of gossip; 300ms (spotify-d: 300ms, 450ms and 900ms)",
       [](Settings& s, auto text) { s.interval = AtLeast(std::chrono::milliseconds(1), text); }},
      {"fan_out", "peers that are told at each gossip; 1",
       [](Settings& s, auto text) { s.fan_out = Parse<uint32_t>(text, 1, 1000); }},
      {"latency", "of an envelope; 1ms",
       [](Settings& s, auto text) { s.network.latency = AtLeast(kSome, text); }},
      {"jitter", "added to it, at random up to this; 0s",
       [](Settings& s, auto text) { s.network.jitter = ParseDuration(text); }},
      {"loss", "share of envelopes that are lost; 0",
       [](Settings& s, auto text) { s.network.loss = Parse(text, 0.0, 1.0); }},
      {"duplication", "share of envelopes that come twice; 0",
       [](Settings& s, auto text) { s.network.duplication = Parse(text, 0.0, 1.0); }},
      {"quiet", "time that is looked at after the last request; 60s",
       [](Settings& s, auto text) { s.quiet = ParseDuration(text); }},
      {"margin", "for which the +margin variants keep dead elements; nodes x interval",
       [](Settings& s, auto text) { s.margin = ParseDuration(text); }},
      {"frequency_threshold", "mean gap below which the queue pushes; 2400ms",
       [](Settings& s, auto text) { s.frequency_threshold = AtLeast(kSome, text); }},
      {"window", "tokens that the frequency analysis looks at; 0 for capacity / nodes",
       [](Settings& s, auto text) { s.window = Parse<uint64_t>(text, 0, 1'000'000); }},
      {"births", "requests of one slice of time are one to the queue, as in the thesis; 0s: never",
       [](Settings& s, auto text) { s.births = ParseDuration(text); }},
      {"patience", "for which debt may keep what is not urgent to itself",
       [](Settings& s, auto text) { s.debt.patience = AtLeast(kSome, text); }},
      {"grace", "for which debt remembers what is over",
       [](Settings& s, auto text) { s.debt.grace = AtLeast(kSome, text); }},
      {"heartbeat", "of debt: how often a peer is told what has come from it",
       [](Settings& s, auto text) { s.debt.heartbeat = AtLeast(kSome, text); }},
      {"variants", "only these, with commas between: counter,debt; all, but three of spotify-c",
       [](Settings& s, auto text) { s.variants = Split(text); }},
  };
  return all;
}

std::string Keys() {
  std::string keys;
  for (const Setting& setting : All()) keys += (keys.empty() ? "" : ", ") + setting.key;
  return keys;
}

}  // namespace

Duration ParseDuration(std::string_view text) {
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  for (const auto& [name, nanos] : kUnits) {
    if (error != std::errc() || unit != name || !(number >= 0)) continue;
    if (number * nanos > 1e18) Reject(fmt::format("'{}' is too long", text));
    return Duration(std::llround(number * nanos));
  }
  Reject(fmt::format("'{}' is not a duration such as 300ms, 2s or 1m", text));
}

void Settings::Set(std::string_view assignment) {
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    Reject(fmt::format("--set {}: expected key=value; the keys are {}", assignment, Keys()));
  }
  const std::string_view key = assignment.substr(0, equals);
  for (const Setting& setting : All()) {
    if (setting.key != key) continue;
    try {
      return setting.set(*this, assignment.substr(equals + 1));
    } catch (const std::invalid_argument& error) {
      Reject(fmt::format("--set {}: {}", key, error.what()));
    }
  }
  Reject(fmt::format("--set {}: there is no such key; the keys are {}", key, Keys()));
}

std::vector<SettingDescription> DescribeSettings() {
  std::vector<SettingDescription> all;
  for (const Setting& setting : All()) all.push_back({setting.key, setting.meaning});
  return all;
}

}  // namespace weir::lab

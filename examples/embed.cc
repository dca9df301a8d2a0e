// Keeps a chatty log readable: passes on lines from stdin, at most three a minute for each first
// word (a program's name, a host), and says how many were left out.
//
//   yes 'disk is full' | head -100 | ./embed
#include <iostream>
#include <map>
#include <string>

#include "weir/limiter.h"

constexpr char kRules[] = R"(
namespaces:
  log: {resources: {line: {limits: [{name: lines, limit: 3, per: 1m}]}}})";

int main() {
  std::string errors;
  const auto rules = weir::ParseRules(kRules, &errors);
  if (rules == nullptr) {
    std::cerr << errors;
    return 1;
  }
  weir::SystemClock clock;
  weir::Limiter limiter(rules, {}, clock.Now());
  std::map<std::string, int> left_out;
  for (std::string line; std::getline(std::cin, line);) {
    const std::string source = line.substr(0, line.find(' '));
    if (limiter.Decide({"log", "line", source}, clock.Now()).allowed) {
      std::cout << line << "\n";
    } else {
      ++left_out[source];
    }
  }
  for (const auto& [source, count] : left_out)
    std::cout << source << ": " << count << " left out\n";
}

// The options of a command of weir-lab: what it takes, within which bounds, and its --help.
//
// Read by CLI11, which takes longer to compile than most commands: only command_line.cc includes it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace weir::lab {

struct NumberBounds {
  uint64_t least = 0;
  uint64_t most = uint64_t{1} << 62;
};

class CommandLine {
 public:
  enum class Need { kOptional, kRequired };
  using Bounds = NumberBounds;

  // `name` as the user types it: "weir-lab chaos".
  CommandLine(std::string what, std::string name);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // Each sets the value that it was given, which until then is the default. A name without "--" is
  // a word by its place.
  void Word(const std::string& name, std::string& value, const std::string& help,
            Need need = Need::kOptional);
  void OneOf(const std::string& name, std::string& value, const std::string& help,
             std::vector<std::string> choices);
  void Words(const std::string& name, std::vector<std::string>& values, const std::string& help);
  void Real(const std::string& name, double& value, const std::string& help, double least,
            double most);
  void Flag(const std::string& name, bool& value, const std::string& help);
  template <typename Integer>
  void Number(const std::string& name, Integer& value, const std::string& help, Bounds bounds = {},
              Need need = Need::kOptional) {
    constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<Integer>::max());
    bounds.most = bounds.most < kMost ? bounds.most : kMost;
    AddNumber(name, static_cast<uint64_t>(value), help, bounds, need,
              [&value](uint64_t number) { value = static_cast<Integer>(number); });
  }
  // Below the options in --help.
  void Footer(const std::string& text);

  // Sets the options and calls `run`; an exception of it is told in one line. Returns the exit code:
  // of `run`, 0 after --help, or 2.
  int Run(std::span<const std::string> arguments, const std::function<int()>& run);

 private:
  struct Parser;
  void AddNumber(const std::string& name, uint64_t value, const std::string& help,
                 const Bounds& bounds, Need need, std::function<void(uint64_t)> set);

  const std::string name_;
  std::unique_ptr<Parser> parser_;
};

// Where `weir` is that was built beside this program.
std::string NeighbourServer();

}  // namespace weir::lab

#include "lab/live/burst.h"
#include "lab/print.h"

#include <fmt/core.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "lab/command_line/command_line.h"
#include "lab/live/live_cluster.h"

namespace weir::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

const std::vector<std::string> kVariants = {"central", "counter", "queue", "debt"};

struct BurstOptions {
  uint32_t nodes = 5;
  int seconds = 10;
  uint64_t limit = 100;  // a second
  uint64_t capacity = 500;
  uint64_t rate = 400;  // requests a second at each node
  std::string weir;
};

struct Tally {
  std::atomic<uint64_t> asked{0}, admitted{0};
};
using Tallies = std::vector<Tally>;

// One node's clients: every variant in turn.
void AskAll(const LiveCluster& cluster, uint32_t node, const BurstOptions& options,
            SteadyClock::time_point start, Tallies& tallies) {
  const auto here = cluster.Connect(node), first = cluster.Connect(0);
  const auto gap = std::chrono::nanoseconds(1'000'000'000 / options.rate);
  const auto end = start + std::chrono::seconds(options.seconds);
  for (auto at = start; at < end; at += gap) {
    std::this_thread::sleep_until(at);
    for (size_t i = 0; i < kVariants.size(); ++i) {
      LiveConnection& connection = kVariants[i] == "central" ? *first : *here;
      tallies[i].admitted += connection.Ask(kVariants[i], "burst", 1) ? 1 : 0;
      tallies[i].asked += 1;
    }
  }
}

void DrawBurst(const BurstOptions& options, const Tallies& tallies, double seconds, bool colours) {
  const double due =
      static_cast<double>(options.capacity) + static_cast<double>(options.limit) * seconds;
  const double all = static_cast<double>(std::max<uint64_t>(1, tallies[0].asked.load()));
  const char* const rest = colours ? "\x1b[K" : "";  // of the line, which may have been longer
  fmt::print("{:>5.1f} s   one limiter lets through {:.0f} of {:.0f}{}\n\n", seconds,
             std::min(due, all), all, rest);
  fmt::print("{:<10} {:>9} {:>9} {:>9}\n", "", "asked", "admitted", "too many");
  for (size_t i = 0; i < kVariants.size(); ++i) {
    const uint64_t admitted = tallies[i].admitted;
    const double over = std::max(0.0, static_cast<double>(admitted) - due);
    const auto width =
        static_cast<size_t>(std::min(60.0, 30 * static_cast<double>(admitted) / due));
    const size_t good = std::min<size_t>(width, 30);
    fmt::print("{:<10} {:>9} {:>9} {:>9.0f}  {}{}{}{}{}{}\n", kVariants[i], tallies[i].asked.load(),
               admitted, over, colours ? "\x1b[32m" : "", std::string(good, '='),
               colours ? "\x1b[31m" : "", std::string(width - good, '+'), colours ? "\x1b[0m" : "",
               rest);
  }
  std::fflush(stdout);
}

double SecondsSince(SteadyClock::time_point start) {
  return std::max(0.0, std::chrono::duration<double>(SteadyClock::now() - start).count());
}

int RunBurst(const BurstOptions& options) {
  fmt::print("starting {} servers on loopback: {} a second, {} at once, for all together …\n\n",
             options.nodes, options.limit, options.capacity);
  const LiveCluster cluster({.weir = options.weir,
                             .nodes = options.nodes,
                             .limit = {options.capacity, options.limit, std::chrono::seconds(1)},
                             .variants = kVariants});
  Tallies tallies(kVariants.size());
  const auto start = SteadyClock::now() + std::chrono::milliseconds(100);
  std::vector<std::thread> clients;
  std::atomic<uint32_t> running{options.nodes};
  for (uint32_t node = 0; node < options.nodes; ++node) {
    clients.emplace_back([&, node] {
      AskAll(cluster, node, options, start, tallies);
      running -= 1;
    });
  }
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  constexpr int kLines = 7;
  while (running > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (!terminal || running == 0) continue;
    DrawBurst(options, tallies, SecondsSince(start), true);
    fmt::print("\x1b[{}A", kLines);
  }
  const double seconds = SecondsSince(start);
  for (std::thread& client : clients) client.join();
  DrawBurst(options, tallies, seconds, terminal);
  PrintLines("\n" + cluster.Status());
  return 0;
}

}  // namespace

int BurstCommand(std::span<const std::string> arguments) {
  BurstOptions options;
  options.weir = NeighbourServer();
  CommandLine line("Sends a burst at all nodes of a real cluster at once.", "weir-lab burst");
  line.Number("--nodes", options.nodes, "servers", {1, 64});
  line.Number("--seconds", options.seconds, "how long", {1, 3600});
  line.Number("--limit", options.limit, "a second, for all nodes together", {1, uint64_t{1} << 30});
  line.Number("--capacity", options.capacity, "at once", {1, uint64_t{1} << 30});
  line.Number("--rate", options.rate, "requests a second at each node, for each variant",
              {1, 100'000});
  line.Word("--weir", options.weir, "the server's program");
  return line.Run(arguments, [&] { return RunBurst(options); });
}

}  // namespace weir::lab

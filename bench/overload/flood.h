// An open load: requests at a steady rate over some connections, whatever the answers do, and beside
// it a light client, which asks a hundred times a second. One thread, without sleeping.
//
// A connection takes so many requests at a time; what is due beyond that is held back, as a client's
// own queue would.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace weir::bench {

// How requests and answers look on one front.
class Wire {
 public:
  virtual ~Wire() = default;
  virtual std::string name() const = 0;
  virtual std::string Greeting() const { return ""; }
  // The `n`th request of a connection, from 0.
  virtual void AppendRequest(uint64_t n, std::string& out) const = 0;
  struct Answers {
    uint64_t decided = 0, overloaded = 0;
    uint64_t all() const { return decided + overloaded; }
  };
  // Counts the whole answers in `in`, and takes them off.
  virtual Answers Take(std::string& in) const = 0;
};

std::unique_ptr<Wire> RespWire();
std::unique_ptr<Wire> HttpWire();
std::unique_ptr<Wire> GrpcWire();

struct FloodResult {
  double per_second = 0;          // answers
  double decided_per_second = 0;  // of them, those that decide
  std::vector<double> light_ms;   // how long the light client waited, sorted
};

// `per_second` 0: as many as the connections take.
FloodResult Flood(const Wire& wire, int port, int connections, int in_flight, double per_second,
                  double seconds);

}  // namespace weir::bench

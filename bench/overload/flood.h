// An open load: requests at a steady rate over some connections, whatever the answers do. Beside it, on
// a thread of its own, a light client, which asks a hundred times a second.
//
// A connection takes so many requests at a time; what is due beyond that is given up, as a client does
// whose own queue is full.
#pragma once

#include <array>
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
  virtual std::string front() const = 0;  // as --front has it
  // Requests that a connection may have under way.
  virtual int most_in_flight() const = 0;
  virtual std::string Greeting() const { return ""; }
  // The `n`th request of a connection, from 0.
  virtual void AppendRequest(uint64_t n, std::string& out) const = 0;
  struct Answer {
    uint64_t n;    // the request
    bool decided;  // or it was told that the server is overloaded
  };
  // Takes the whole answers off `in`, and adds them to `answers`. `next`: of those that come in the
  // order of the requests.
  virtual void Take(std::string& in, uint64_t& next, std::vector<Answer>& answers) const = 0;
};

std::unique_ptr<Wire> RespWire();
std::unique_ptr<Wire> HttpWire();
std::unique_ptr<Wire> GrpcWire();

// How many waited for how long, in steps of a quarter of a millisecond.
class Waits {
 public:
  void Add(double seconds) {
    const auto step = static_cast<size_t>(seconds * 4000);
    steps_[step < steps_.size() ? step : steps_.size() - 1] += 1;
    count_ += 1;
  }
  uint64_t count() const { return count_; }
  double QuantileMs(double q) const;

 private:
  std::array<uint64_t, 40'000> steps_{};
  uint64_t count_ = 0;
};

struct FloodResult {
  Waits decided, told;           // of the flood's requests: decided, or told `overloaded`
  std::vector<double> light_ms;  // how long the light client waited, sorted
};

struct FloodOptions {
  int connections = 64;
  int in_flight = 16;     // of each connection
  double per_second = 0;  // in all; 0: as many as the connections take
  double seconds = 3;     // that are counted; a quarter of it goes before
};

FloodResult Flood(const Wire& wire, int port, const FloodOptions& options);

}  // namespace weir::bench

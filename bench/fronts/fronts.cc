#include "bench/fronts/fronts.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

#include "bench/fronts/pace.h"
#include "bench/weir_under_load.h"
#include "lab/live/free_port.h"
#include "lab/live/program.h"

namespace weir::bench {

using lab::AwaitPort;
using lab::FreePort;
using lab::Program;
using lab::RunOn;
using lab::ScratchDirectory;
using lab::StayOn;

namespace {

// A token bucket as one finds it: level and time in a hash, refilled when it is asked.
constexpr char kLuaBucket[] = R"(
local burst, rate, cost = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = tonumber(time[1]) + tonumber(time[2]) / 1000000
local bucket = redis.call('HMGET', KEYS[1], 'level', 'at')
local level = tonumber(bucket[1]) or burst
local at = tonumber(bucket[2]) or now
level = math.min(burst, level + (now - at) * rate)
local allowed = level >= cost
if allowed then level = level - cost end
redis.call('HSET', KEYS[1], 'level', tostring(level), 'at', tostring(now))
redis.call('EXPIRE', KEYS[1], math.ceil(burst / rate) + 1)
return {allowed and 1 or 0, math.floor(level)}
)";

constexpr char kNginx[] = R"(
daemon off;
worker_processes 1;
pid %DIR%/nginx.pid;
error_log /dev/null crit;
events { worker_connections 1024; }
http {
  access_log off;
  keepalive_requests 1000000000;
  client_body_temp_path %DIR%; proxy_temp_path %DIR%; fastcgi_temp_path %DIR%;
  uwsgi_temp_path %DIR%; scgi_temp_path %DIR%;
  server { listen 127.0.0.1:%PORT% reuseport; location / { return 200; } }
}
)";

std::string Replace(std::string text, const std::string& what, const std::string& by) {
  for (size_t at; (at = text.find(what)) != std::string::npos;) text.replace(at, what.size(), by);
  return text;
}

// RateLimitRequest{domain: "bench", descriptors: [{entries: [{key: "user", value: "u"}]}]}, framed.
std::string GrpcRequest() {
  const std::string entry = std::string("\x0a\x04") + "user" + "\x12\x01" + "u";
  const std::string descriptor = std::string("\x0a") + static_cast<char>(entry.size()) + entry;
  const std::string message = std::string("\x0a\x05") + "bench" + "\x12" +
                              static_cast<char>(descriptor.size()) + descriptor;
  std::string frame(5, '\0');
  frame[4] = static_cast<char>(message.size());
  return frame + message;
}

class Suite {
 public:
  Suite(const FrontsOptions& options, const std::function<void(const std::string&)>& progress)
      : options_(options), progress_(progress) {
    StartRedis();
    StartNginx();
    StartGrpcPeer();
  }

  FrontsResult Run() {
    for (int round = 0; round < options_.rounds; ++round) {
      const std::string of =
          " (round " + std::to_string(round + 1) + " of " + std::to_string(options_.rounds) + ")";
      for (const int in_flight : {1, 16}) MeasureResp(in_flight, of);
      MeasureGrpc(4, 64, of);
      MeasureGrpc(16, 1, of);
      MeasureHttp(of);
    }
    FrontsResult result;
    for (const std::string& name : order_) result.rows.push_back(best_.at(name));
    result.goals = Goals();
    result.idle_p999_ms = Quantile(PaceNothing(50'000, 2), 0.999) / 1000;
    return result;
  }

 private:
  struct Server {
    std::unique_ptr<Program> program;
    int port = 0;
  };

  Server Start(const std::vector<std::string>& command, int port) {
    Server server{std::make_unique<Program>(command, kServerCore), port};
    AwaitPort(port);
    return server;
  }
  void StartRedis() {
    const int port = FreePort();
    redis_ = Start({"redis-server", "--port", std::to_string(port), "--save", "", "--appendonly",
                    "no", "--dir", directory_.Path("")},
                   port);
    script_ =
        RunOn(kLoadCore, {"redis-cli", "-p", std::to_string(port), "SCRIPT", "LOAD", kLuaBucket});
    script_.erase(script_.find_last_not_of(" \r\n") + 1);
  }
  void StartNginx() {
    const int port = FreePort();
    std::string text = Replace(kNginx, "%DIR%", directory_.Path("."));
    text = Replace(text, "%PORT%", std::to_string(port));
    nginx_ = Start({"nginx", "-c", directory_.Write("nginx.conf", text)}, port);
  }
  void StartGrpcPeer() {
    const std::string peer = options_.programs + "/grpc-peer";
    if (!std::filesystem::exists(peer)) return;
    const int port = FreePort();
    peer_ = Start({peer, "127.0.0.1:" + std::to_string(port)}, port);
  }

  // Runs the load, which asks `n` times, and keeps the best round.
  void Measure(const std::string& what, const Program& server, size_t n, const std::string& of,
               const std::vector<std::string>& load) {
    progress_(what + of);
    const uint64_t cpu = server.CpuNanos();
    const auto start = std::chrono::steady_clock::now();
    RunOn(kLoadCore, load);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const double used = static_cast<double>(server.CpuNanos() - cpu);
    const auto count = static_cast<double>(n);
    FrontRow row{what, used / count / 1000, count / took.count()};
    const auto [place, is_new] = best_.try_emplace(what, row);
    if (is_new) order_.push_back(what);
    if (row.micros < place->second.micros) place->second.micros = row.micros;
    if (row.per_second > place->second.per_second) place->second.per_second = row.per_second;
  }
  size_t Times(size_t n) const {
    return std::max<size_t>(1000, static_cast<size_t>(static_cast<double>(n) * options_.scale));
  }

  void MeasureResp(int in_flight, const std::string& of) {
    const size_t n = Times(in_flight == 1 ? 200'000 : 2'000'000);
    const std::string flight = ", " + std::to_string(in_flight) + " in flight";
    const auto load = [&](int port, size_t times, std::vector<std::string> command) {
      std::vector<std::string> words = {
          "redis-benchmark",         "-p", std::to_string(port),  "-c", "16",     "-P",
          std::to_string(in_flight), "-n", std::to_string(times), "-r", "100000", "-q"};
      words.insert(words.end(), command.begin(), command.end());
      return words;
    };
    Measure("RESP Weir CL.THROTTLE" + flight, weir_.program, n, of,
            load(weir_.resp, n, {"CL.THROTTLE", "key:__rand_int__", "1000000", "1000000", "1"}));
    Measure("RESP Redis INCR" + flight, *redis_.program, n, of,
            load(redis_.port, n, {"INCR", "key:__rand_int__"}));
    const size_t fewer = in_flight == 1 ? n : n / 8;
    Measure("RESP Redis token bucket in Lua" + flight, *redis_.program, fewer, of,
            load(redis_.port, fewer,
                 {"EVALSHA", script_, "1", "lua:__rand_int__", "1000000", "1000000", "1"}));
  }

  void MeasureGrpc(int connections, int streams, const std::string& of) {
    const std::string shape =
        ", " + std::to_string(connections) + " x " + std::to_string(streams) + " streams";
    const std::string body = directory_.Write("grpc_request", GrpcRequest());
    const auto load = [&](int port, size_t n) {
      return std::vector<std::string>{
          "h2load",
          "-n",
          std::to_string(n),
          "-c",
          std::to_string(connections),
          "-m",
          std::to_string(streams),
          "-d",
          body,
          "-H",
          "content-type: application/grpc",
          "-H",
          "te: trailers",
          "http://127.0.0.1:" + std::to_string(port) +
              "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"};
    };
    const size_t n = Times(streams == 1 ? 60'000 : 200'000);
    Measure("gRPC Weir rate-limit service" + shape, weir_.program, n, of, load(weir_.grpc, n));
    if (peer_.program == nullptr) return;
    const size_t fewer = n / 4;
    Measure("gRPC minimal grpc++ server" + shape, *peer_.program, fewer, of,
            load(peer_.port, fewer));
  }

  void MeasureHttp(const std::string& of) {
    const size_t n = Times(100'000);
    const auto load = [&](int port, const std::string& path) {
      return std::vector<std::string>{"h2load",
                                      "--h1",
                                      "-n",
                                      std::to_string(n),
                                      "-c",
                                      "16",
                                      "http://127.0.0.1:" + std::to_string(port) + path};
    };
    Measure("HTTP Weir /v1/auth", weir_.program, n, of,
            load(weir_.http, "/v1/auth?namespace=bench&resource=api&subject=u1"));
    Measure("HTTP nginx return 200", *nginx_.program, n, of, load(nginx_.port, "/"));
  }

  // The 99.9th percentile, in milliseconds, at half of what the front could take.
  double SlowestAtHalfLoad() {
    const double most = best_.at("RESP Weir CL.THROTTLE, 1 in flight").per_second;
    const double rate = most / 2;
    progress_("waiting times at half load");
    StayOn(kLoadCore);
    const std::string command = "CL.THROTTLE key 1000000 1000000 1\r\n";
    double best = 1e9;
    for (int round = 0; round < options_.rounds; ++round) {
      best = std::min(best, Quantile(PaceResp(weir_.resp, command, rate, 2), 0.999) / 1000);
    }
    return best;
  }

  double Ratio(const std::string& a, const std::string& b) const {
    return best_.at(a).micros / best_.at(b).micros;
  }
  std::vector<Goal> Goals() {
    const std::string one = ", 1 in flight", many = ", 16 in flight";
    const std::string weir = "RESP Weir CL.THROTTLE", incr = "RESP Redis INCR",
                      lua = "RESP Redis token bucket in Lua";
    std::vector<Goal> goals = {
        {"CL.THROTTLE / INCR, 1 in flight", Ratio(weir + one, incr + one), 1, true},
        {"CL.THROTTLE / INCR, 16 in flight", Ratio(weir + many, incr + many), 1, true},
        {"CL.THROTTLE / Lua bucket, 16 in flight", Ratio(weir + many, lua + many), 0.125, true},
        {"/v1/auth / nginx return 200", Ratio("HTTP Weir /v1/auth", "HTTP nginx return 200"), 1.5,
         true},
        {"p99.9 of CL.THROTTLE at half load, ms", SlowestAtHalfLoad(), 1, true},
    };
    if (peer_.program != nullptr) {
      const std::string grpc = "gRPC Weir rate-limit service", peer = "gRPC minimal grpc++ server";
      const std::string wide = ", 4 x 64 streams", narrow = ", 16 x 1 streams";
      goals.push_back({"rate-limit service / grpc++, 4 x 64 streams",
                       Ratio(grpc + wide, peer + wide), 0.2, true});
      goals.push_back({"rate-limit service / grpc++, 16 x 1 streams",
                       Ratio(grpc + narrow, peer + narrow), 1.0 / 3, true});
    }
    return goals;
  }

  const FrontsOptions& options_;
  const std::function<void(const std::string&)>& progress_;
  ScratchDirectory directory_;
  const WeirUnderLoad weir_{options_.programs, directory_};
  Server redis_, nginx_, peer_;
  std::string script_;
  std::map<std::string, FrontRow> best_;
  std::vector<std::string> order_;
};

}  // namespace

FrontsResult MeasureFronts(const FrontsOptions& options,
                           const std::function<void(const std::string&)>& progress) {
  return Suite(options, progress).Run();
}

}  // namespace weir::bench

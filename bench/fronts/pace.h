// An open load on the Redis front: commands at a steady rate, whatever the answers do, and how long
// each waited from the instant at which it was due.
#pragma once

#include <string>
#include <vector>

namespace weir::bench {

// Microseconds, sorted. Runs on the calling thread, without sleeping.
std::vector<double> PaceResp(int port, const std::string& command, double per_second,
                             double seconds);

// The same without a server: how late this core itself is for what is due. What a machine that is
// shared with others takes away shows here.
std::vector<double> PaceNothing(double per_second, double seconds);

// The value that the share `q` of them does not exceed.
double Quantile(const std::vector<double>& sorted, double q);

}  // namespace weir::bench

// What `weir top` shows, as lines that fit a terminal: a title, a table of resources, and below each
// its busiest, its most refused and (with limits in shadow) its would-be refused subjects.
//
//   weir top  127.0.0.1:8080  14:05:09  admitted 1234/s  refused 5/s  2 resources       q quits
//   resource                   admitted    refused  cost so far  the last 18 seconds
//   shop/search                  1200/s        5/s       904321  ▁▂▃▅▇█
//     busiest                    requests   most refused               refusals
//     ann                          734210   bob                            4411
//
// What is less important gives way first: subjects, then the less busy resources; columns from the
// right. Names are cut with "…". Nothing here asks for the time, the terminal or the server.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/terminal.h"

namespace weir {

struct TopSubject {
  std::string name;
  uint64_t count = 0;
};

struct TopResource {
  std::string name;  // NAMESPACE/RESOURCE
  uint64_t cost = 0;
  std::vector<uint64_t> admitted, refused;  // by second, the latest last
  std::vector<TopSubject> busiest, most_refused, would_refuse;
};

struct TopView {
  std::string server;
  std::string time;
  uint64_t admitted_rate = 0, refused_rate = 0;
  std::vector<TopResource> resources;  // the busiest first
  size_t more = 0;                     // that are used, but not among them
  size_t unused = 0;
  std::string trouble;  // why this is not the latest
};

struct ScreenSize {
  size_t columns = 80;
  size_t rows = 24;  // 0: as many as are needed
};

// One string a line, painted if `colours`.
std::vector<std::string> DrawTop(const TopView& view, ScreenSize size, bool colours);

// How many resources a screen has room for.
size_t MostResources(ScreenSize size);

}  // namespace weir

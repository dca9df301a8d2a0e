// The thesis' figures, drawn of our results.
//
//   precision    bars, beside what the thesis printed
//   refusals     over time, with the requests and the central limiter (Figures 5.1 to 5.9)
//   admitted     set D: what was admitted until then; refusals is a sum there, too (Figure 5.15)
//   memory       of a node over time; the counter's highest is 100 % (Figures 5.4 to 5.13)
//   bandwidth    bars: bytes sent in all; and over time as bandwidth-time
#pragma once

#include <string>
#include <vector>

#include "lab/replicated/results.h"

namespace weir::lab {

struct Figure {
  std::string name;
  std::string svg;
};

std::vector<Figure> FiguresOf(const ExperimentResult& result);

}  // namespace weir::lab

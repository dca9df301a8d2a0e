// Results as text: a table for people, a line of JSON a metric for programs, CSV for others.
#pragma once

#include <string>

#include "lab/replicated/results.h"

namespace weir::lab {

// Variants down, metrics across; then every figure of the thesis and every requirement, with the
// verdict. Colours are escape sequences.
std::string AsTable(const ExperimentResult& result, bool colours);
// {"experiment","variant","metric","paper","value","unit","ok"}, one a line.
std::string AsJson(const ExperimentResult& result);
std::string AsCsv(const ExperimentResult& result);
// What happened over time: time_s,variant,received,refused,refused_centrally,bytes_sent,memory.
std::string StepsAsCsv(const ExperimentResult& result);

// "1234.5" as people read it: "1,234", "0.87", "12.3 M".
std::string Readable(double value, const std::string& unit);

}  // namespace weir::lab

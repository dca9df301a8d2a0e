// Results as files: CSV, plots in the form of the thesis' figures, and one page over all.
#pragma once

#include <string>
#include <vector>

#include "lab/replicated/results.h"

namespace weir::lab {

// DIR/NAME.csv, NAME-steps.csv and NAME-….svg. Throws std::runtime_error if it cannot be written.
void WriteFiles(const ExperimentResult& result, const std::string& directory);
// DIR/report.html, which needs no other file; its path is returned.
std::string WriteReport(const std::vector<ExperimentResult>& results, const std::string& directory);
std::string ReportPage(const std::vector<ExperimentResult>& results);

}  // namespace weir::lab

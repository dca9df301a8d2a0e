// Folders that need each other. A folder is read from the bottom up only if nothing below it needs it: so no two
// folders include each other, by whatever way round. A folder and one that lies in it may: the inner one is
// a part of the outer.
#pragma once

#include "tests/style/source_file.h"

namespace weir::style {

// One finding for each include that lies on a circle of folders. Tests, fuzz targets and benchmarks, which are nobody's
// dependency, are left out.
Findings CheckFolderCycles(const std::vector<SourceFile>& files);

}  // namespace weir::style

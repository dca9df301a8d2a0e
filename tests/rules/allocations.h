// Counts what the heap is asked for, in this test program only.
#pragma once

#include <cstddef>

namespace weir {

// Since the program began.
size_t Allocations();

}  // namespace weir

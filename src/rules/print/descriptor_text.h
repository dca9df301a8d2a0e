// Descriptor rules in the grammar that descriptor_reader.h reads.
#pragma once

#include <vector>

#include "rules/descriptors.h"
#include "rules/text/lines.h"

namespace weir {

// "descriptors:" and the rules below it; nothing if there are none.
void PrintDescriptors(const std::vector<DescriptorRule>& rules, Lines& lines);

}  // namespace weir

// Metadata off a tree and onto a line.
#pragma once

#include <string>

#include "rules/metadata.h"
#include "rules/text/document.h"

namespace weir {

// What YAML's core schema makes of it, but for numbers in other forms than JSON's, which are text.
// Notes an error if it is nested more than kMostMetadataDepth levels deep.
Metadata ReadMetadata(const Node& node, Source& source);
inline constexpr uint32_t kMostMetadataDepth = 8;

// In flow style: ReadMetadata reads it back.
std::string PrintMetadata(const Metadata& metadata);

}  // namespace weir

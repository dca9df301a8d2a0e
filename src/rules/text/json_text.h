// Reads JSON (RFC 8259) into a tree: what programs write, at fifty times the speed of YAML.
#pragma once

#include "rules/text/tree_builder.h"

namespace weir {

// False if the text is not JSON, and the builder is then of no more use: it may still be YAML.
bool ReadJson(std::string_view text, TreeBuilder& builder);

}  // namespace weir

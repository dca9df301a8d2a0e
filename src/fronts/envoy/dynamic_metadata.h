// The metadata of rules as protobuf's Struct, which a proxy can log and route by.
#pragma once

#include <google/protobuf/struct.pb.h>

#include "rules/metadata.h"

namespace weir {

// Into what is there: of several rules, a later one's members win. Metadata that is not a map is
// left out: a Struct is one.
void MergeMetadata(const Metadata& metadata, google::protobuf::Struct& out);

}  // namespace weir

// Time, chance and the environment are arguments: now(), rand, sleep, system_clock, random_device
// and getenv are for base and server, which hand them down. Files that may use them are in one
// list, each with its reason.
#pragma once

#include <string_view>

#include "tests/style/source_file.h"

namespace weir::style {

struct Exemption {
  std::string_view path;  // a file, or a folder with its final slash
  std::string_view word;  // what it may use; "*" for all
  std::string_view reason;
};
const std::vector<Exemption>& Exemptions();

Findings CheckForbiddenCalls(const SourceFile& file);

}  // namespace weir::style
